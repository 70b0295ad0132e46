// Shared by the runtime's tests: temporary folders, models as text, JOB folders as bytes, real
// child processes.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/svp/include/svp_acl.h"
#include "runtime/svp/profile/record_file.hpp"

namespace msprof::runtime::test {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string read_file(const std::string& path);
bool exists(const std::string& path);
// Returns the names in a folder, sorted; empty if it does not exist.
std::vector<std::string> names_in(const std::string& folder);
// Returns the entries of `folder` that start with "JOB", as full paths.
std::vector<std::string> jobs_in(const std::string& folder);

// Returns an acl.json with everything on, and the given `interval` and `output`.
std::string acl_json(const std::string& output, const std::string& interval = "0");

// Returns a model "tiny": one image of 2×4×4, conv1 (Conv2D), relu1 (Relu), pool (Pool),
// probabilities (Softmax on AA_CPU).
std::string tiny_model(const std::string& name = "tiny", int max_batch = 4);
// Returns a model with one layer "out" on one input "in" (and "in2"), with these additional keys.
std::string one_layer(const std::string& shape, const std::string& keys,
                      const std::string& second_shape = "");

// One image for tiny_model().
inline const std::vector<std::vector<float>> kOneImage = {std::vector<float>(32, 0.5F)};

// Captures stderr of this process for its lifetime.
class CapturedStderr {
 public:
  CapturedStderr();
  ~CapturedStderr();
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;
  std::string text() const;

 private:
  TempFolder folder_;
  int saved_;
};

// Loads a model and runs it through the C interface; buffers are dense.
class Runner {
 public:
  explicit Runner(const std::string& model);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  uint32_t id() const { return id_; }
  // Runs one batch; the inputs hold whole images. Returns the first output of the batch.
  std::vector<float> run(const std::vector<std::vector<float>>& inputs, uint64_t batch = 1);
  void unload();

 private:
  uint32_t id_ = 0;
  svp_acl_mdl_desc* desc_ = nullptr;
  bool loaded_ = false;
};

// Calls svp_acl_init and svp_acl_finalize around a test.
class Initialised {
 public:
  explicit Initialised(const std::string& acl_json_path = "");
  ~Initialised();
  Initialised(const Initialised&) = delete;
  Initialised& operator=(const Initialised&) = delete;
  void finalize();

 private:
  bool active_ = true;
};

// Returns the records of a raw file, after checking its header; `partial` receives the size in
// bytes of a truncated last record.
template <typename Record>
std::vector<Record> read_records(const std::string& path, RecordKind kind,
                                 std::size_t* partial = nullptr);

// Returns the content of a `.done` as a map.
std::map<std::string, std::string> read_done(const std::string& raw_path);

struct ProcessResult {
  int exit_code = -1;  // -1 if ended by a signal
  int signal = 0;
  std::string out, err;
};
// Runs a program and waits; `environment` is added to this process's environment.
ProcessResult run_process(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment = {});
std::string demo_main();

std::string header_problem(const std::string& bytes, RecordKind kind);

template <typename Record>
std::vector<Record> read_records(const std::string& path, RecordKind kind, std::size_t* partial) {
  const std::string bytes = read_file(path);
  const std::string problem = header_problem(bytes, kind);
  if (!problem.empty()) throw std::runtime_error(path + ": " + problem);
  std::vector<Record> records((bytes.size() - sizeof(FileHeader)) / sizeof(Record));
  if (!records.empty())
    std::memcpy(records.data(), bytes.data() + sizeof(FileHeader), records.size() * sizeof(Record));
  const std::size_t rest = (bytes.size() - sizeof(FileHeader)) % sizeof(Record);
  if (partial != nullptr) {
    *partial = rest;
  } else if (rest != 0) {
    throw std::runtime_error(path + ": " + std::to_string(rest) + " trailing bytes");
  }
  // Unused space left by a killed application.
  if (!exists(path + ".done")) {
    while (!records.empty() && records.back().start_ns == 0) records.pop_back();
  }
  return records;
}

}  // namespace msprof::runtime::test
