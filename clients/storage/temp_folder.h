// A folder for one test. For tests only.

#ifndef CLIENTS_STORAGE_TEMP_FOLDER_H_
#define CLIENTS_STORAGE_TEMP_FOLDER_H_

#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace bimbackup::storage {

// Made with a name of its own, in memory where there is room and TMPDIR says
// nothing else: what syncs a lot is a hundred times faster there. Removed,
// with all it holds, at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (Parent() / "bimbackup-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  static std::filesystem::path Parent() {
    const std::filesystem::path memory = "/dev/shm";
    constexpr std::uintmax_t kEnough = std::uintmax_t{4} << 30;
    std::error_code error;
    const std::filesystem::space_info space =
        std::filesystem::space(memory, error);
    if (getenv("TMPDIR") == nullptr && !error && space.available >= kEnough) {
      return memory;
    }
    return std::filesystem::temp_directory_path();
  }

  std::string path_;
};

// The bytes of a file; empty where there is none.
inline std::string ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteWholeFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace bimbackup::storage

#endif  // CLIENTS_STORAGE_TEMP_FOLDER_H_
