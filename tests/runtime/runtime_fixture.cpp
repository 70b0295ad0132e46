#include "runtime/runtime_fixture.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace msprof::runtime::test {
namespace {

namespace fs = std::filesystem;

void must(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

}  // namespace

TempFolder::TempFolder() {
  std::string pattern = (fs::temp_directory_path() / "msprof_runtime_XXXXXX").string();
  must(mkdtemp(pattern.data()) != nullptr, "mkdtemp failed");
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(path_, ignored)) {
    if (entry.is_directory()) fs::permissions(entry.path(), fs::perms::owner_all, ignored);
  }
  fs::permissions(path_, fs::perms::owner_all, ignored);
  fs::remove_all(path_, ignored);
}

std::string TempFolder::write(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(file.good() ? fs::file_size(path) : 0, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  must(file.good(), path + " cannot be read");
  return bytes;
}

bool exists(const std::string& path) {
  return fs::exists(path);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> jobs_in(const std::string& folder) {
  std::vector<std::string> jobs;
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with("JOB")) jobs.push_back(folder + "/" + name);
  }
  return jobs;
}

std::string acl_json(const std::string& output, const std::string& interval) {
  return R"({"profiler":{"switch":"on","output":")" + output + R"(","interval":")" + interval +
         R"(","aic_metrics":"ArithmeticUtilization","aicpu":"on","acl_api":"on"}})";
}

std::string tiny_model(const std::string& name, int max_batch) {
  return R"({"format":"msprof-model","version":1,"name":")" + name + R"(","seed":5,"max_batch":)" +
         std::to_string(max_batch) + R"(,"inputs":[{"name":"image","shape":[2,4,4]}],"layers":[
    {"name":"conv1","type":"Conv2D","inputs":["image"],"out_channels":3,"kernel":3,"pad":1},
    {"name":"relu1","type":"Relu","inputs":["conv1"]},
    {"name":"pool","type":"Pool","inputs":["relu1"],"mode":"avg","global":true,"original":["pool_a","pool_b"]},
    {"name":"probabilities","type":"Softmax","inputs":["pool"],"run_on":"AA_CPU"}]})";
}

std::string one_layer(const std::string& shape, const std::string& keys,
                      const std::string& second_shape) {
  const bool two = !second_shape.empty();
  return R"({"format":"msprof-model","version":1,"name":"one","inputs":[{"name":"in","shape":)" +
         shape + "}" + (two ? R"(,{"name":"in2","shape":)" + second_shape + "}" : "") +
         R"(],"layers":[{"name":"out","inputs":["in")" + (two ? R"(,"in2")" : "") + "]," + keys +
         "}]}";
}

CapturedStderr::CapturedStderr() : saved_(dup(STDERR_FILENO)) {
  const int fd = open((folder_.path() + "/stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  must(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0, "stderr cannot be captured");
  close(fd);
}

CapturedStderr::~CapturedStderr() {
  dup2(saved_, STDERR_FILENO);
  close(saved_);
}

std::string CapturedStderr::text() const {
  return read_file(folder_.path() + "/stderr");
}

Runner::Runner(const std::string& model) {
  const svp_acl_error code = svp_acl_mdl_load_from_mem(model.data(), model.size(), &id_);
  must(code == SVP_ACL_SUCCESS, "load failed with " + std::to_string(code));
  loaded_ = true;
  desc_ = svp_acl_mdl_create_desc();
  must(svp_acl_mdl_get_desc(desc_, id_) == SVP_ACL_SUCCESS, "get_desc failed");
}

Runner::~Runner() {
  unload();
  svp_acl_mdl_destroy_desc(desc_);
}

void Runner::unload() {
  if (loaded_) svp_acl_mdl_unload(id_);
  loaded_ = false;
}

std::vector<float> Runner::run(const std::vector<std::vector<float>>& inputs, uint64_t batch) {
  svp_acl_mdl_dataset* in = svp_acl_mdl_create_dataset();
  svp_acl_mdl_dataset* out = svp_acl_mdl_create_dataset();
  std::vector<std::vector<float>> memory = inputs;
  for (std::vector<float>& input : memory) {
    svp_acl_mdl_add_dataset_buffer(
        in, svp_acl_create_data_buffer(input.data(), input.size() * sizeof(float), 0));
  }
  std::vector<std::vector<float>> outputs;
  for (std::size_t i = 0; i < svp_acl_mdl_get_num_outputs(desc_); ++i) {
    outputs.emplace_back(svp_acl_mdl_get_output_size_by_index(desc_, i) / sizeof(float));
    svp_acl_mdl_add_dataset_buffer(
        out, svp_acl_create_data_buffer(outputs.back().data(),
                                        outputs.back().size() * sizeof(float), 0));
  }
  svp_acl_error code = svp_acl_mdl_set_dynamic_batch_size(id_, in, 0, batch);
  if (code == SVP_ACL_SUCCESS) code = svp_acl_mdl_execute(id_, in, out);
  for (svp_acl_mdl_dataset* dataset : {in, out}) {
    for (std::size_t i = 0; i < svp_acl_mdl_get_dataset_num_buffers(dataset); ++i) {
      svp_acl_destroy_data_buffer(svp_acl_mdl_get_dataset_buffer(dataset, i));
    }
    svp_acl_mdl_destroy_dataset(dataset);
  }
  must(code == SVP_ACL_SUCCESS, "execute failed with " + std::to_string(code));
  svp_acl_mdl_io_dims dims = {};
  svp_acl_mdl_get_output_dims(desc_, 0, &dims);
  outputs[0].resize(static_cast<std::size_t>(dims.dims[1] * dims.dims[2] * dims.dims[3]) * batch);
  return outputs[0];
}

Initialised::Initialised(const std::string& acl_json_path) {
  must(svp_acl_init(acl_json_path.empty() ? nullptr : acl_json_path.c_str()) == SVP_ACL_SUCCESS,
       "init failed");
}

Initialised::~Initialised() {
  finalize();
}

void Initialised::finalize() {
  if (active_) svp_acl_finalize();
  active_ = false;
}

std::string header_problem(const std::string& bytes, RecordKind kind) {
  FileHeader header;
  if (bytes.size() < sizeof header) return "no whole header";
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string(header.magic, 4) != "MSVP" || header.version != 1)
    return "wrong magic or version";
  if (header.kind != static_cast<uint32_t>(kind) || header.zero != 0) return "wrong kind";
  if (header.record_bytes != record_bytes(kind)) return "wrong record size";
  return "";
}

std::map<std::string, std::string> read_done(const std::string& raw_path) {
  std::map<std::string, std::string> values;
  std::istringstream text(read_file(raw_path + ".done"));
  for (std::string line; std::getline(text, line);) {
    const std::size_t colon = line.find(':');
    must(colon != std::string::npos, "a .done line without a colon");
    values[line.substr(0, colon)] = line.substr(colon + 1);
  }
  return values;
}

ProcessResult run_process(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment) {
  const TempFolder folder;
  const std::string out = folder.path() + "/out", err = folder.path() + "/err";
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  must(child >= 0, "fork failed");
  if (child == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ProcessResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = read_file(out);
  result.err = read_file(err);
  return result;
}

std::string demo_main() {
  return MSPROF_DEMO_MAIN;
}

}  // namespace msprof::runtime::test
