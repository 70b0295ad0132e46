#include "base/error.hpp"
#include "base/text.hpp"
#include "board/transfer/outgoing.hpp"
#include "board/transfer/transfer_ways.hpp"

namespace msprof {

namespace {

void fetch_file(SftpFiles& sftp, const std::string& path, const NewFile& file, Incoming& incoming,
                const TransferProgress& progress) {
  if (!incoming.open_file(file)) return;
  sftp.read(path, incoming.room(), [&](std::string_view bytes) {
    incoming.write(bytes);
    if (progress) progress(incoming.bytes());
  });
  incoming.close_file();
}

}  // namespace

std::string fetch_by_sftp(SftpFiles& sftp, const std::string& folder, const TreeListing& wanted,
                          Incoming& incoming, const TransferProgress& progress) {
  std::string problem;
  for (const NewFile& file : incoming.take_folders(wanted)) {
    try {
      fetch_file(sftp, folder + "/" + file.path, file, incoming, progress);
    } catch (const ConnectionLost&) {
      throw;  // a later attempt continues the received part
    } catch (const Error& error) {
      incoming.drop_file();
      if (error.code() != Exit::partial_data) throw;
      if (problem.empty()) problem = printable(error.what());
    }
  }
  return problem;
}

void continue_by_sftp(SftpFiles& sftp, const std::string& folder, const NewFile& file,
                      std::uint64_t part_bytes, Incoming& incoming,
                      const TransferProgress& progress) {
  if (!incoming.open_part(file, part_bytes)) return;
  const auto take = [&](std::string_view bytes) {
    incoming.write(bytes);
    if (progress) progress(incoming.bytes());
  };
  sftp.read_from(folder + "/" + file.path, part_bytes, file.size_bytes, take);
  incoming.close_file();
}

void send_file_by_sftp(BoardShell& shell, SftpFiles& sftp, const std::string& folder,
                       const ProjectEntry& entry, SendReport& report,
                       const TransferProgress& progress) {
  SourceFile file(entry.source);
  if (!open_for_sending(file, entry, report)) return;
  const std::string path = folder + "/" + entry.path.string();
  try {
    sftp.write(path, entry.mode & 0777U, counted_reads(file, report, progress));
    sftp.set_times(path, told_of_change(file, entry) ? 0 : file.copied_mtime_seconds());
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) throw;
    throw_board_cannot_write(shell, folder, printable(error.what()));
  }
}

}  // namespace msprof
