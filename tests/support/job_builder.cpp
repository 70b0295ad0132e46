#include "support/job_builder.hpp"

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

void append(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string to_bytes(const AicoreRecord& record) {
  std::string out;
  append(out, record.layer_id, 4);
  append(out, 0, 4);
  for (const auto value : {record.start_ns, record.total, record.mac_busy, record.mac_ppen,
                           record.vec_busy, record.vec_ppen, record.dstr, record.dtrans, record.dld,
                           record.wld, record.ddr_read, record.ddr_write, record.execution}) {
    append(out, value, 8);
  }
  return out;
}

std::string to_bytes(const AicpuRecord& record) {
  std::string out;
  append(out, record.layer_id, 4);
  append(out, record.thread_id, 4);
  append(out, record.start_ns, 8);
  append(out, record.end_ns, 8);
  append(out, record.execution, 8);
  return out;
}

std::string to_bytes(const AclRecord& record) {
  std::string out;
  append(out, record.api_id, 4);
  append(out, record.thread_id, 4);
  append(out, record.start_ns, 8);
  append(out, record.end_ns, 8);
  append(out, 0, 8);
  return out;
}

template <typename Record>
std::string make_file(const std::vector<Record>& records, std::uint16_t record_bytes,
                      std::uint32_t kind, const HeaderChange& change) {
  std::string out = change.magic;
  append(out, change.version, 2);
  append(out, change.record_bytes.value_or(record_bytes), 2);
  append(out, change.kind.value_or(kind), 4);
  append(out, 0, 4);
  for (const Record& record : records) {
    std::string bytes = to_bytes(record);
    bytes.resize(change.record_bytes.value_or(record_bytes), '\xee');
    out += bytes;
  }
  return out;
}

std::string done_text(const Done& done, std::uint64_t size) {
  if (done.text) return *done.text;
  std::string text = "file_len:" + std::to_string(done.file_len.value_or(size)) +
                     "\nstart_time:1000000\nend_time:3000000\n";
  const auto line = [&text](const char* key, std::optional<std::uint64_t> value) {
    if (value) text += std::string(key) + ":" + std::to_string(*value) + "\n";
  };
  line("cache_hit", done.cache_hit);
  line("cache_mis", done.cache_mis);
  line("pid", done.pid);
  line("tid", done.tid);
  if (!done.batch_numbers.empty()) text += "online_batch_num:" + done.batch_numbers;
  return text;
}

}  // namespace

std::string aicore_file(const std::vector<AicoreRecord>& records, const HeaderChange& change) {
  return make_file(records, 112, 1, change);
}

std::string aicpu_file(const std::vector<AicpuRecord>& records, const HeaderChange& change) {
  return make_file(records, 32, 2, change);
}

std::string acl_api_file(const std::vector<AclRecord>& records, const HeaderChange& change) {
  return make_file(records, 32, 3, change);
}

std::string u32_bytes(std::uint32_t value) {
  std::string out;
  append(out, value, 4);
  return out;
}

std::string u64_bytes(std::uint64_t value) {
  std::string out;
  append(out, value, 8);
  return out;
}

std::string patched(std::string bytes, std::size_t offset, std::string_view patch) {
  return bytes.replace(offset, patch.size(), patch);
}

std::string DataName::text() const {
  std::string name = type + "." + std::to_string(device) + "." + model;
  const auto number = [&name](std::int64_t value) { name += "." + std::to_string(value); };
  number(model_id);
  if (net) number(*net);
  number(batch);
  number(pics);
  number(current);
  return name;
}

std::string info_json_text(Generation generation, const std::string& frequency) {
  const std::string first = R"({"DeviceInfo": [{"aic_frequency": ")" + frequency + "\"}";
  switch (generation) {
    case Generation::ss928:
      break;
    case Generation::hi3519:
      return first + R"(,{"magic_num": "6A6A"}]})";
    case Generation::hi3516:
      return first + R"(,{"soc_version": "V200"},{"aicore_type": "1"}]})";
  }
  return first + "]}";
}

JobBuilder::JobBuilder(const fs::path& parent, const std::string& name) : folder_(parent / name) {
  fs::create_directories(folder_ / "data");
}

JobBuilder& JobBuilder::info_json(const std::string& frequency, Generation generation, int device) {
  return file("info.json." + std::to_string(device), info_json_text(generation, frequency));
}

JobBuilder& JobBuilder::net_info(const std::string& model, std::int64_t model_id,
                                 const NetInfo& net) {
  const std::string text =
      "#msprof-net 1\nmodel_name:" + (net.model_name.empty() ? model : net.model_name) +
      "\nmodel_id:" + std::to_string(model_id) + "\nnet_id:" + std::to_string(net.net_id) +
      "\nnet_type:" + net.net_type + "\nbatch_num:" + net.batch_num +
      "\nlayer_num:" + std::to_string(net.layer_num) + "\n";
  return file("data/" + model + "." + std::to_string(model_id) + ".net.info", text);
}

JobBuilder& JobBuilder::layer_info(const std::string& model, std::int64_t model_id,
                                   const std::vector<LayerLine>& layers) {
  std::string text = "#msprof-layers 1\n";
  for (const LayerLine& layer : layers) {
    text += std::to_string(layer.layer_id) + "\t" + std::to_string(layer.net_id) + "\t" +
            layer.type + "\t" + layer.task_type + "\t" + layer.name + "\t" +
            (layer.original_names.empty() ? layer.name : layer.original_names) + "\n";
  }
  return file("data/" + model + "." + std::to_string(model_id) + ".layer.info", text);
}

JobBuilder& JobBuilder::data(const std::string& name, std::string_view bytes, const Done& done) {
  file("data/" + name, bytes);
  if (done.written) file("data/" + name + ".done", done_text(done, bytes.size()));
  return *this;
}

JobBuilder& JobBuilder::file(const std::string& name, std::string_view bytes) {
  write_file(folder_ / name, bytes);
  return *this;
}

JobBuilder& JobBuilder::remove(const std::string& name) {
  fs::remove_all(folder_ / name);
  return *this;
}

}  // namespace msprof::test
