#include "base/foreign_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

namespace msprof {

namespace {

bool is_about_writing(const std::error_code& code) {
  return code == std::errc::no_space_on_device || code == std::errc::read_only_file_system ||
         code == std::errc::file_too_large || code == std::errc::file_exists ||
         code == std::errc::directory_not_empty;
}

}  // namespace

Error to_error(const std::exception& exception) {
  if (const auto* const own = dynamic_cast<const Error*>(&exception)) return *own;
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {
        Exit::cannot_write,
        "out of memory: free some memory or raise the limit (ulimit -v, the container's memory)"};
  if (const auto* const file = dynamic_cast<const std::filesystem::filesystem_error*>(&exception))
    return {is_about_writing(file->code()) ? Exit::cannot_write : Exit::partial_data,
            fmt::format("{}: {}", file->path1().string(), file->code().message())};
  const auto* const system = dynamic_cast<const std::system_error*>(&exception);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return {Exit::cannot_write,
            "cannot start a thread: stop other programs or raise the limit (ulimit -u, the "
            "container's process limit)"};
  return {Exit::internal_error, fmt::format("internal error: {}", exception.what())};
}

Exit to_unreadable_exit(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR ? Exit::nothing_to_do
                                                           : Exit::partial_data;
}

}  // namespace msprof
