// The lock by which a program owns a file while it has it open. For temporary files and for folders
// in which one program works at a time. The kernel drops it with the last descriptor, however the
// program ends, and children that are forked without exec keep it. It is an OFD lock, which other
// namespaces see, too; the number of a process means nothing there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace msprof {

enum class OwnerLock {
  taken,    // until the descriptor is closed
  held,     // by another program
  unknown,  // the file system has no such locks
};

// For a file that is open for writing.
OwnerLock take_owner_lock(int fd);
// Waits for programs that only look whether the file has an owner.
OwnerLock await_owner_lock(int fd);
// Looks whether a file that is open for reading has an owner. What is `taken` keeps owners out.
OwnerLock look_for_owner(int fd);

// 16 digits that name this machine among those that share a folder: 8 for its name, 8 for its
// present life. Locks on some mounts are seen by programs of one machine only.
const std::string& machine_tag();
// True for a tag of this machine. Containers have names of their own, but one kernel; after a
// restart it is the other way round.
bool is_this_machine(std::string_view tag);

// True if `path` still leads to the file that is open: another program may have removed it before
// the lock was taken.
bool is_same_file(int fd, const std::filesystem::path& path);

// Where no lock tells it: true if nobody has written to the file, or to anything in the folder, for
// 24 hours. False for what cannot be read.
bool is_abandoned(const std::filesystem::path& path);

}  // namespace msprof
