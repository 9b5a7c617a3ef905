"""The fault matrix: what is spoiled, how, and what must come of it.

The requests of a case are bounded: by those that the file needs anyway, and
`storage` and `sign` more.
"""

import dataclasses
import os

SMALL = "small"
LARGE = "large"
RESUMED = "resumed"
KINDS = (SMALL, LARGE, RESUMED)
# Less than 33,000,000 is not resumed, and a slow machine may take less time.
SIZE = int(os.environ.get("BIMBACKUP_MATRIX_BYTES") or 200_000_000)
SIZES = {SMALL: 10_000, LARGE: SIZE, RESUMED: SIZE}
# The most requests for the bytes of a whole file: parts of 4 MiB at least,
# and one that is shared out before it ends.
IN_PARTS_REQUESTS = SIZE // (4 << 20) + 4
REQUESTS = {SMALL: 1, LARGE: IN_PARTS_REQUESTS, RESUMED: IN_PARTS_REQUESTS}
IN_PARTS = (LARGE, RESUMED)
# libcurl itself repeats a request on a reused connection that was closed
# without a byte, so often at most. Whether one is reused is up to chance.
UNNOTICED = 5


@dataclasses.dataclass
class Case:
    """One fault on the answers about one file of each kind."""
    name: str
    action: dict
    # Requests that it may cost besides the regular ones; a whole file once
    # more is WHOLE.
    storage: int = 1
    sign: int = 0
    # Of the requests for this file: from which on, and how many.
    nth: int = 1
    count: int = 1
    kinds: tuple = KINDS
    # A word of the reason that `failures` gives; stored where empty.
    failed: str = ""
    # Bytes that are all different, where order counts; zeros where not.
    mixed: bool = False
    # Files from zero once more, in requests.
    whole: int = 0

    # Whether every part may use up attempts of its own.
    each_part: bool = False

    def storage_bound(self, kind):
        attempts = self.storage * (REQUESTS[kind] if self.each_part else 1)
        return REQUESTS[kind] + attempts + self.whole * REQUESTS[kind]


def status(code, **more):
    return {"type": "status", "status": code, **more}


def s3_error(code, name, text):
    return status(code, body=f"<Error><Code>{name}</Code>"
                             f"<Message>{text}</Message></Error>")


HTML = "<html><body>Please log in to the guest network</body></html>"

# On the answers that hold the bytes.
STORAGE_CASES = (
    Case("500", status(500)),
    Case("503 slow down", s3_error(503, "SlowDown", "Reduce your rate")),
    Case("408", status(408)),
    Case("429 seconds", status(429, retry_after="1")),
    Case("429 date", status(429, retry_after="date:2")),
    Case("429 nonsense", status(429, retry_after="soon")),
    # A worker's wait is its own: nothing pauses for others.
    Case("403 expired", s3_error(403, "AccessDenied", "Request has expired"),
         sign=1),
    Case("400 token", s3_error(400, "ExpiredToken", "expired"), sign=1),
    Case("expired between parts", {"type": "expired"}, nth=3, sign=1,
         kinds=IN_PARTS),
    # Its lease goes back, and the next one signs again.
    Case("404 once", status(404), sign=1, storage=9),
    Case("412", status(412), whole=1),
    Case("416", status(416), whole=1),
    Case("reset at once", {"type": "reset", "bytes": -1}),
    Case("reset inside", {"type": "reset", "bytes": 5_000}, mixed=True),
    Case("short", {"type": "short", "bytes": 5_000}, mixed=True),
    Case("truncated", {"type": "truncate", "bytes": 5_000}, mixed=True,
         whole=1),
    Case("corrupt", {"type": "corrupt", "bytes": 6_000}, whole=1),
    Case("corrupt later", {"type": "corrupt", "bytes": 6_000}, nth=3, whole=1,
         kinds=IN_PARTS),
    Case("stall before", {"type": "stall", "bytes": -1}),
    Case("stall inside", {"type": "stall", "bytes": 5_000}, mixed=True),
    Case("trickle", {"type": "drip", "bytes": 100}),
    Case("delay", {"type": "delay", "delay_ms": 3000}, storage=0),
    Case("chunked coding", {"type": "transfer_chunked"}, storage=0,
         mixed=True),
    Case("guest network", status(200, body=HTML), whole=1),
    Case("gzip", {"type": "gzip"}),
    Case("range ignored", {"type": "ignore_range"}, whole=1, kinds=IN_PARTS,
         mixed=True),
    Case("no content range", {"type": "no_range"}, kinds=IN_PARTS),
    Case("wrong total", {"type": "wrong_total", "bytes": 1}, whole=1,
         kinds=IN_PARTS),
    Case("wrong total later", {"type": "wrong_total", "bytes": -1}, nth=3,
         whole=1, kinds=(LARGE,)),
    Case("wrong range", {"type": "wrong_range", "bytes": 1}, kinds=IN_PARTS,
         mixed=True),
    Case("object changed", {"type": "new_etag"}, nth=3, count=-1, whole=1,
         kinds=IN_PARTS),
    Case("object mixed", {"type": "ignore_if_match"}, nth=3, whole=1,
         kinds=IN_PARTS),
)

# On the answers that sign a file. A resumed one has its first URL refused,
# so that its worker asks for another.
SIGN_CASES = (
    Case("sign 500", status(500), storage=0, sign=1),
    Case("sign 503", status(503), storage=0, sign=1),
    Case("sign 408", status(408), storage=0, sign=1),
    Case("sign 401", status(401), storage=0, sign=1),
    Case("sign 404 once", status(404), storage=0, sign=1,
         kinds=(SMALL, LARGE)),
    Case("sign reset", {"type": "reset", "bytes": -1}, storage=0, sign=1),
    Case("sign reset inside", {"type": "reset", "bytes": 50}, storage=0,
         sign=1),
    Case("sign short", {"type": "short", "bytes": 50}, storage=0, sign=1),
    Case("sign stall", {"type": "stall", "bytes": 50}, storage=0, sign=1),
    Case("sign trickle", {"type": "drip", "bytes": 300}, storage=0),
    Case("sign delay", {"type": "delay", "delay_ms": 2000}, storage=0),
    Case("sign chunked coding", {"type": "transfer_chunked"}, storage=0),
    Case("sign malformed", {"type": "malformed_json"}, storage=0, sign=1),
    Case("sign deep", {"type": "deep_json", "bytes": 100_000}, storage=0,
         sign=1),
    Case("sign gzip", {"type": "gzip"}, storage=0, count=-1),
    Case("sign guest network", status(200, body=HTML), storage=0, sign=1),
    Case("sign no url", {"type": "omit", "keys": ["url"]}, storage=0, sign=1),
    Case("sign no status", {"type": "omit", "keys": ["status"]}, storage=0,
         sign=1),
    Case("sign no size", {"type": "omit", "keys": ["size"]}, storage=1),
    Case("sign no sha1", {"type": "omit", "keys": ["sha1"]}, storage=0),
    Case("sign huge size", {"type": "huge_size"}, storage=0, sign=1),
    Case("sign expired", {"type": "expired"}, sign=1),
    Case("sign chunks", {"type": "chunked_urls", "bytes": 4_000_000},
         storage=50, mixed=True),
    Case("sign fallback", {"type": "fallback"}, storage=0, mixed=True),
    # Its digest is compared twice before the next lease signs again.
    Case("sign wrong sha1", {"type": "wrong_sha1"}, storage=0, sign=1,
         whole=2, kinds=(SMALL, LARGE)),
)

# For ever. Retries end, the file is named, the rest goes on.
LASTING_STORAGE_CASES = (
    Case("always 500", status(500), storage=25, failed="500",
         each_part=True),
    Case("always 429", status(429, retry_after="1"), storage=25,
         failed="429", each_part=True),
    Case("always 403", status(403), storage=8, sign=5, failed="403"),
    Case("always 404", status(404), storage=2, sign=1, failed="404"),
    Case("always 418", status(418), failed="418"),
    Case("always corrupt", {"type": "corrupt", "bytes": 10}, whole=5, sign=1,
         failed="SHA-1"),
    Case("always short", {"type": "short", "bytes": 1_000}, storage=25,
         failed="remaining", each_part=True),
    Case("always reset", {"type": "reset", "bytes": -1}, storage=50,
         failed="attempts", each_part=True),
    Case("always truncated", {"type": "truncate", "bytes": 1_000}, storage=25,
         whole=2, sign=1, failed=" ", each_part=True),
    Case("always gzip", {"type": "gzip"}, storage=25, failed="gzip"),
    Case("always guest network", status(200, body=HTML), whole=4, sign=1,
         failed=" "),
    Case("redirected", {"type": "redirect",
                        "location": "http://169.254.169.254/latest"},
         failed="302"),
    Case("never a range", {"type": "no_range"}, storage=25, kinds=IN_PARTS,
         failed="Content-Range"),
    Case("always wrong range", {"type": "wrong_range", "bytes": 1},
         storage=25, kinds=IN_PARTS, failed=" "),
    Case("always another total", {"type": "wrong_total", "bytes": 1},
         storage=25, sign=1, kinds=IN_PARTS, failed=" "),
)
LASTING_SIGN_CASES = (
    # The URL of a resumed file is good but for one answer, and serves it.
    Case("sign always 500", status(500), sign=25, failed="500",
         kinds=(SMALL, LARGE)),
    Case("sign always 403", status(403), sign=1, failed="403"),
    Case("sign always 404", status(404), sign=1, failed="404"),
    Case("sign always 400", status(400), sign=0, failed="400"),
    Case("sign always malformed", {"type": "malformed_json"}, sign=3,
         failed="JSON"),
    Case("sign always deep", {"type": "deep_json", "bytes": 5_000}, sign=3,
         failed="JSON"),
    Case("sign huge", {"type": "huge_json", "bytes": 70 << 20}, sign=1,
         failed="bytes"),
    Case("sign always 2^63", {"type": "huge_size"}, sign=3, failed="size"),
    Case("sign redirected", {"type": "redirect",
                             "location": "http://169.254.169.254/latest"},
         sign=0, failed="302"),
    Case("sign foreign host", {"type": "foreign_url",
                               "location": "http://169.254.169.254"},
         sign=1, failed="169.254.169.254"),
    Case("sign plain host", {"type": "foreign_url",
                             "location": "http://storage.example.com"},
         sign=1, failed="storage.example.com"),
    Case("sign always expired", {"type": "expired"}, storage=8, sign=8,
         failed="403"),
    Case("sign always wrong sha1", {"type": "wrong_sha1"}, whole=4, sign=1,
         failed="SHA-1"),
)


@dataclasses.dataclass
class ListingCase:
    """One fault on the pages of one folder."""
    name: str
    action: dict
    count: int = 1
    # Listing requests besides the regular ones.
    pages: int = 1
    # A word of the reason that `failures` gives; listed whole where None.
    unlisted: str = None
    # Files in the folder; a page holds 200.
    files: int = 3


LISTING_CASES = (
    ListingCase("list 500", status(500)),
    ListingCase("list 503", status(503)),
    ListingCase("list 408", status(408)),
    ListingCase("list 401", status(401)),
    ListingCase("list 429", status(429, retry_after="1")),
    ListingCase("list 429 date", status(429, retry_after="date:2")),
    ListingCase("list reset", {"type": "reset", "bytes": 50}),
    ListingCase("list reset at once", {"type": "reset", "bytes": -1}),
    ListingCase("list short", {"type": "short", "bytes": 50}),
    ListingCase("list stall", {"type": "stall", "bytes": 50}),
    ListingCase("list delay", {"type": "delay", "delay_ms": 2000}, pages=0),
    ListingCase("list chunked coding", {"type": "transfer_chunked"}, pages=0),
    ListingCase("list malformed", {"type": "malformed_json"}),
    ListingCase("list deep", {"type": "deep_json", "bytes": 100_000}),
    # The API is asked for gzip, and is believed.
    ListingCase("list gzip", {"type": "gzip"}, -1, 0),
    ListingCase("list guest network", status(200, body=HTML)),
    ListingCase("list no data", {"type": "omit", "keys": ["data"]}),
    ListingCase("list relative", {"type": "next_relative"}, pages=0,
                files=250),
    ListingCase("list empty page", {"type": "empty_page"}, pages=1,
                files=250),
    ListingCase("list no digits", {"type": "fraction_digits", "bytes": 0},
                pages=0),
    ListingCase("list seven digits", {"type": "fraction_digits", "bytes": 7},
                pages=0),
    ListingCase("list no sizes", {"type": "omit", "keys": ["storageSize"]},
                pages=0),
    ListingCase("list twice", {"type": "duplicate"}, pages=0, files=250,
                count=-1),
)
LASTING_LISTING_CASES = (
    # Its parent shows that it is there: the next backup lists it.
    ListingCase("gone for once", status(404), 1, 0, "404"),
    ListingCase("always loop", {"type": "next_loop"}, -1, 2, "back to", 250),
    ListingCase("always foreign", {"type": "next_foreign"}, -1, 0, "host",
                250),
    ListingCase("always cut", {"type": "malformed_json"}, -1, 1, "JSON"),
    ListingCase("always deep", {"type": "deep_json", "bytes": 5_000}, -1, 1,
                "JSON"),
    ListingCase("always huge", {"type": "huge_json", "bytes": 70 << 20}, -1,
                1, "bytes"),
    ListingCase("always forbidden", status(403), -1, 0, "403"),
    ListingCase("always gone", status(404), -1, 1, "404"),
    ListingCase("always 410", status(410), -1, 1, "410"),
    ListingCase("always broken", status(500), -1, 4, "500"),
    ListingCase("always reset", {"type": "reset", "bytes": -1}, -1,
                4 + UNNOTICED, "attempts"),
    ListingCase("always no data", {"type": "omit", "keys": ["data"]}, -1, 1,
                "data"),
    ListingCase("always no ids", {"type": "omit", "keys": ["id"]}, -1, 0,
                "could not be read"),
    ListingCase("always no tips", {"type": "omit", "keys": ["included"]}, -1,
                0, "tip"),
    ListingCase("always 2^63", {"type": "huge_size"}, -1, 0, "size"),
    ListingCase("always cycle", {"type": "cycle"}, -1, 0, "cycle"),
    ListingCase("always elsewhere", {
        "type": "redirect", "location": "http://169.254.169.254/latest"}, -1,
        0, "302"),
)
