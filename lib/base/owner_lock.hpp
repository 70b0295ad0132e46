// Lock that marks a file as owned by the program that has it open. For temporary files, and for
// folders in which one program works at a time. The kernel releases it with the last descriptor,
// however the program ends; children forked without exec keep it. It is an OFD lock, which works
// across PID namespaces, where process ids do not.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace msprof {

enum class OwnerLock {
  taken,    // held by this descriptor until it is closed
  held,     // held by another program
  unknown,  // the file system does not support such locks
};

// Tries to lock a file that is open for writing.
OwnerLock take_owner_lock(int fd);
// Locks a file, waiting for programs that are only checking for an owner.
OwnerLock await_owner_lock(int fd);
// Checks whether a file that is open for reading has an owner. If it returns `taken`, nobody can
// own the file until the descriptor is closed.
OwnerLock look_for_owner(int fd);

// Returns 16 hexadecimal digits that identify this machine among those that share a folder: 8 for
// the host name, 8 for the current boot. On some mounts, locks are visible to one machine only.
const std::string& machine_tag();
// Returns true if either half of the tag matches this machine: containers have different host names
// but share a boot id; a restart keeps the name but changes the boot id.
bool is_this_machine(std::string_view tag);

// Returns true if `path` still refers to the open file, which another program may have removed
// before it was locked.
bool is_same_file(int fd, const std::filesystem::path& path);

// Returns true if the owner of a file or folder is gone. A free lock proves that only for files of
// this machine: on some mounts other machines' locks are invisible. `is_old` (is_abandoned())
// decides for all others.
bool is_ownerless(OwnerLock lock, bool is_of_this_machine, bool is_old);

// Fallback without locks: returns true if nobody has written to the file, or to anything in the
// folder, for 24 hours. False if the times cannot be read.
bool is_abandoned(const std::filesystem::path& path);

}  // namespace msprof
