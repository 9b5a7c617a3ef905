#!/usr/bin/env bash
# Makes a private CA and the certificates with which the programs know each
# other. Running it again makes what is missing and leaves the rest.
#
#   deploy/make_certs.sh [FLAG ...]
#   deploy/make_certs.sh [FLAG ...] --add NAME worker|operator|reader
#   deploy/make_certs.sh [FLAG ...] --renew NAME
#
#   --dir DIR        where they are kept (deploy/certs)
#   --host HOST      one more name or address by which clients reach the
#                    servers whose certificates are made; may be repeated
#   --days N         life of a certificate (397)
#   --ca_days N      life of the CA (3650)
#   --owner UID:GID  to whom the certificates are given, 10001:10001 for the
#                    containers; only root can
#
# DIR/NAME/ holds cert.pem, key.pem and ca.pem of coordinator, worker,
# file-scan, operator and reader: what --tls_cert, --tls_key and --tls_ca want.
# DIR/ca/ca.key signs them all: keep it off the machines that use them.
#
# --renew makes a new key and certificate with the same names (they stand in
# DIR/NAME/names.cnf) and replaces both at one stroke: programs that run take
# them up within seconds. --renew ca makes the CA's certificate anew, with the
# same key, and all certificates with it.
set -euo pipefail
umask 077

dir=$(dirname "$0")/certs
days=397
ca_days=3650
owner=
hosts=()
renew=
add_name=
add_role=

fail() {
  echo "make_certs.sh: $1" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --dir | --host | --days | --ca_days | --owner | --renew)
      [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 wants a value"
      case $1 in
        --dir) dir=$2 ;;
        --host) hosts+=("$2") ;;
        --days) days=$2 ;;
        --ca_days) ca_days=$2 ;;
        --owner) owner=$2 ;;
        --renew) renew=$2 ;;
      esac
      shift
      ;;
    --add)
      [ $# -ge 3 ] || fail "--add wants a name and a role"
      add_name=$2
      add_role=$3
      shift 2
      ;;
    --help)
      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"
      exit 0
      ;;
    *) fail "unknown argument \"$1\" (see --help)" ;;
  esac
  shift
done

[[ $days =~ ^[1-9][0-9]{0,4}$ ]] || fail "--days: \"$days\" is no number"
[[ $ca_days =~ ^[1-9][0-9]{0,4}$ ]] ||
  fail "--ca_days: \"$ca_days\" is no number"
command -v openssl >/dev/null || fail "openssl is not installed"

check_name() {
  [[ $1 =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ && $1 != ca ]] ||
    fail "\"$1\" is no name for a certificate: letters, digits, . _ -"
}

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# The CA's certificate, signed by itself.
sign_ca() {
  openssl req -x509 -new -key "$dir/ca/ca.key" -sha256 -days "$ca_days" \
    -subj "/O=bimbackup/CN=bimbackup private CA" \
    -addext basicConstraints=critical,CA:TRUE,pathlen:0 \
    -addext keyUsage=critical,keyCertSign,cRLSign \
    -out "$dir/ca/ca.pem.new"
  chmod 644 "$dir/ca/ca.pem.new"
  mv "$dir/ca/ca.pem.new" "$dir/ca/ca.pem"
}

make_ca() {
  [ -e "$dir/ca/ca.pem" ] && return 0
  mkdir -p "$dir/ca"
  [ -e "$dir/ca/ca.key" ] || new_key "$dir/ca/ca.key"
  sign_ca
  echo "made the CA in $dir/ca"
}

# names_of ROLE SERVER...: the alternative names of a certificate.
names_of() {
  local role=$1 names=() host
  shift
  [ -z "$role" ] || names+=("URI:bimbackup://role/$role")
  if [ $# -gt 0 ]; then
    for host in "$@" localhost 127.0.0.1 ::1 "${hosts[@]}"; do
      if [[ $host =~ ^[0-9.]+$ || $host == *:* ]]; then
        names+=("IP:$host")
      else
        names+=("DNS:$host")
      fi
    done
  fi
  (IFS=, && echo "${names[*]}")
}

# make NAME ROLE SERVER...: unless it is there. Servers are clients, too:
# their health checks ask themselves.
make() {
  local name=$1 role=$2 usage=clientAuth
  shift 2
  check_name "$name"
  [ -e "$dir/$name/cert.pem" ] && return 0
  [ $# -eq 0 ] || usage=serverAuth,clientAuth
  mkdir -p "$dir/$name"
  cat >"$dir/$name/names.cnf" <<END
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=$usage
subjectAltName=$(names_of "$role" "$@")
END
  issue "$name"
  echo "made $dir/$name${role:+, role $role}"
}

# issue NAME: a new version, to which `current` leads when it is whole.
issue() {
  local folder=$dir/$1 version old
  version=v$(date +%Y%m%d%H%M%S)-$(openssl rand -hex 4)
  old=$(readlink "$folder/current" || true)
  mkdir "$folder/$version"
  new_key "$folder/$version/key.pem"
  openssl req -new -key "$folder/$version/key.pem" \
    -subj "/O=bimbackup/CN=$1" |
    openssl x509 -req -sha256 -days "$days" -CA "$dir/ca/ca.pem" \
      -CAkey "$dir/ca/ca.key" -set_serial "0x$(openssl rand -hex 16)" \
      -extfile "$folder/names.cnf" -out "$folder/$version/cert.pem" \
      2>"$folder/$version/openssl.log" || {
    cat "$folder/$version/openssl.log" >&2
    rm -rf "${folder:?}/$version"
    fail "cannot sign the certificate of $1"
  }
  rm "$folder/$version/openssl.log"
  cp "$dir/ca/ca.pem" "$folder/$version/ca.pem"
  chmod 644 "$folder/$version/cert.pem" "$folder/$version/ca.pem"
  ln -s "$version" "$folder/next"
  if [ -n "$owner" ]; then chown -hR "$owner" "$folder"; fi
  mv -T "$folder/next" "$folder/current"
  local file
  for file in cert.pem key.pem ca.pem; do
    [ -L "$folder/$file" ] || ln -s "current/$file" "$folder/$file"
    if [ -n "$owner" ]; then chown -h "$owner" "$folder/$file"; fi
  done
  if [ -n "$old" ]; then rm -rf "${folder:?}/$old"; fi
}

renew_all() {
  local file
  sign_ca
  for file in "$dir"/*/names.cnf; do
    [ -e "$file" ] && issue "$(basename "$(dirname "$file")")"
  done
  echo "renewed the CA and every certificate in $dir"
}

if [ -n "$renew" ]; then
  [ -e "$dir/ca/ca.key" ] || fail "$dir holds no CA"
  if [ "$renew" = ca ]; then
    renew_all
    exit 0
  fi
  check_name "$renew"
  [ -e "$dir/$renew/names.cnf" ] || fail "$dir/$renew is not there to renew"
  issue "$renew"
  echo "renewed $dir/$renew"
  exit 0
fi

make_ca
if [ -n "$add_name" ]; then
  case $add_role in
    worker) make "$add_name" worker "$add_name" ;;
    operator | reader) make "$add_name" "$add_role" ;;
    *) fail "--add: \"$add_role\" is not worker, operator or reader" ;;
  esac
  exit 0
fi
make coordinator "" coordinator
make worker worker download-worker
make file-scan "" file-scan
make operator operator
make reader reader
