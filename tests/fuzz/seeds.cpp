#include "seeds.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "cann_seeds.hpp"
#include "old_seeds.hpp"

namespace msprof::fuzz {

namespace {

template <typename T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

std::string header(std::uint16_t record_bytes, std::uint32_t kind) {
  std::string bytes = "MSVP";
  put(bytes, std::uint16_t{1});
  put(bytes, record_bytes);
  put(bytes, kind);
  put(bytes, std::uint32_t{0});
  return bytes;
}

std::string aicore(unsigned layers, unsigned executions) {
  std::string bytes = header(112, 1);
  for (unsigned execution = 0; execution < executions; ++execution) {
    for (unsigned layer = 0; layer < layers; ++layer) {
      put(bytes, std::uint32_t{layer});
      put(bytes, std::uint32_t{0});
      put(bytes, std::uint64_t{1'000'000} + 5000 * (execution * layers + layer));
      put(bytes, std::uint64_t{4000} + layer);
      for (std::uint64_t unit = 0; unit < 8; ++unit) put(bytes, 100 * (unit + 1));
      put(bytes, std::uint64_t{4096});
      put(bytes, std::uint64_t{2048});
      put(bytes, std::uint64_t{execution});
    }
  }
  return bytes;
}

std::string spans(std::uint32_t kind, std::initializer_list<std::uint32_t> ids) {
  std::string bytes = header(32, kind);
  std::uint64_t start = 900'000;
  for (const std::uint32_t id : ids) {
    put(bytes, id);
    put(bytes, std::uint32_t{77});
    put(bytes, start);
    put(bytes, start + 1500);
    put(bytes, std::uint64_t{0});
    start += 2000;
  }
  return bytes;
}

std::string done(const std::string& data, const std::string& more) {
  return "file_len:" + std::to_string(data.size()) + "\nstart_time:1\nend_time:2\n" + more;
}

constexpr const char* kInfo = R"({"DeviceInfo": [{"aic_frequency": "1000"}]})";
constexpr const char* kNet =
    "#msprof-net 1\nmodel_name:m\nmodel_id:1\nnet_id:0\nnet_type:CNN\nbatch_num:1\nlayer_num:3\n";
constexpr const char* kLayers =
    "#msprof-layers 1\n0\t0\tConv2D\tAA_CORE\tconv1\tconv1+bn1\n1\t0\tRelu\tAA_CORE\trelu1\trelu1\n"
    "2\t0\tSoftmax\tAA_CPU\tprob\tprob\n";

std::string whole_capture() {
  const std::string core = aicore(2, 3);
  const std::string cpu = spans(2, {2, 2});
  const std::string acl = spans(3, {1, 3, 3, 5, 99});
  return pack({{false, "info.json.0", kInfo},
               {true, "m.1.net.info", kNet},
               {true, "m.1.layer.info", kLayers},
               {true, "aicore.0.m.1.0.1.1.0", core},
               {true, "aicore.0.m.1.0.1.1.0.done", done(core, "cache_hit:90\ncache_mis:10\n")},
               {true, "aicpu.0.m.1.0.1.1.0", cpu},
               {true, "aicpu.0.m.1.0.1.1.0.done", done(cpu, "")},
               {true, "acl_api.0.m.1", acl},
               {true, "acl_api.0.m.1.done", done(acl, "pid:12\ntid:13\n")}});
}

std::string several_captures() {
  const std::string core = aicore(1, 1);
  return pack(
      {{false, "info.json.0",
        R"({"DeviceInfo": [{"aic_frequency": "680"},{"magic_num": "6A6A"}]})"},
       {true, "a.5.2.net.info", "board bytes"},
       {true, "a.5.2.layer.info", std::string("\0\1Convolution\0conv1\0Pooling\0pool1\0", 34)},
       {true, "AIcore.0.a.5.2.4.4.0", core},
       {true, "AAcore.0.a.5.2.4.4.8", core},
       {true, "aicore.0.4.4", core},
       {true, "aicore.0.a.5.2.4.4.16.done", done(core, "online_batch_num:1,2")},
       {true, "AclModule.0.a.5.2", spans(3, {512})},
       {true, "cont.0.a.5.2.1.1.0", "x"}});
}

// Every key in both spellings, characters that end a password in other formats, and each kind of
// line end.
std::vector<std::string> board_files() {
  return {
      "[ssh_config]\nip = 192.168.1.10\nusername = root\npwd = S3cret ;phrase\nport = 2222\n"
      "key = ~/.ssh/id\nboard_dir = /userdata/x\nhost_key = accept-new\nconnect_timeout = 2.5\n",
      "\xEF\xBB\xBF; c\r\n[other]\r\nx\r\n[SSH_Config]\r\n  BOARD_IP: ::1\r\n\tUSER=me\r\n"
      "PASSWORD = S3cret ;phrase\r\nPORT=22\r\nBOARD_MOUNT_PATH=/mnt\r\nHOST_MOUNT_PATH=/h\r\n",
      "[ssh_config]\rpwd = a#b%c=d\rpwd S3cret ;phrase\r[x\r",
      "[ssh_config]\nPWD = S3cret ;phrase\npwd = S3cret ;phrase\nboard_dir = a/../b\nport = 0\n",
      "root@[fe80::1%eth0]:22\nboard_dir = ~/w\nip=a\nboard_ip=b\nunknown = S3cret ;phrase\n"};
}

// SQL that succeeds, SQL that would write, and SQL that never ends.
std::vector<std::string> questions() {
  return {"SELECT name, total_us FROM v_ops ORDER BY total_us DESC LIMIT 5 -- all",
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
          "SELECT op.*, [text], `id` FROM op_summary JOIN \"op\" /* x */ NATURAL JOIN name",
          "DELETE FROM task; VACUUM INTO '/tmp/x'",
          "SELECT group_concat(hex(randomblob(99999))) OVER (PARTITION BY x'ff' ORDER BY 1e300),"
          " printf('%.*c', 99999999, 'x') FROM v_tasks, json_each('[1,2]') WHERE op_id IN (1, 2)",
          "ATTACH 'x' AS y; PRAGMA user_version = 7; CREATE TEMP TABLE z AS SELECT 1"};
}

std::vector<std::string> profiling_options() {
  return {
      R"({"output":"","storage_limit":"200MB","training_trace":"on","task_time":"l1","fp_point":""})",
      R"({"output":"/tmp/p",task_trace":"on","sys_io_sampling_freq":"100","host_sys":"cpu,mem"})",
      R"({"training_trace":"on", "aic_metrics":"Custom:0x1,0x2"})"};
}

// Files of ssh's configuration, and lists of jump hosts.
std::vector<std::string> ssh_configs() {
  return {
      "Host lab7 !lab8 10.*\n  HostName %h.example.org\n\tPort=2222\n User \"board\"\n"
      "IdentityFile ~/.ssh/%r@%n\nIdentityFile '${HOME}/a b' # c\nCertificateFile x\\ y\n",
      "Match exec \"touch x\"\n Port 1\nMatch all\nProxyJump me@a:1,ssh://[::1]:2/\n"
      "Include conf.d/*.conf \"~/b\"\nHost *\nProxyCommand nc %h %p\nIdentitiesOnly yes\n",
      "StrictHostKeyChecking accept-new\r\nUserKnownHostsFile a b\r\nHostKeyAlias c\r\n"
      "ConnectTimeout 5\r\nSendEnv LANG\r\nHost \"\n",
      "me@a:22,b,[fe80::1%eth0]:24,none\n", "none\nIdentityFile %%%d%i%k%L%l%p%u%x\n"};
}

}  // namespace

std::string pack(const std::vector<SeedFile>& files) {
  std::string bytes;
  for (const SeedFile& file : files) {
    put(bytes, static_cast<std::uint8_t>(file.in_data ? 1 : 0));
    put(bytes, static_cast<std::uint8_t>(file.name.size()));
    bytes += file.name;
    put(bytes, static_cast<std::uint16_t>(file.content.size()));
    bytes += file.content;
  }
  return bytes;
}

std::vector<std::string> seeds(std::string_view target) {
  if (target == "sql") return questions();
  if (target == "options") return profiling_options();
  if (target == "job_folder") return {whole_capture(), several_captures(), ""};
  if (target == "ini") return board_files();
  if (target == "ssh_config") return ssh_configs();
  if (target == "board_answer") return board_answers();
  if (target == "part") return parts();
  if (target == "store_pages") return stores();
  if (target == "old") return old_seeds();
  if (target == "old_folder") return old_folders();
  if (target.starts_with("cann_")) return cann_seeds(target);
  return {
      R"({"aicore": {"header_size": 0, "record_size": 16, "fields": {
             "layer_id": {"offset": 0, "type": "u32"}, "total_cycles": {"offset": 8, "type": "u64", "scale": 2},
             "start": {"offset": null, "type": "i32"}}}})",
      R"({"acl_api": {"header_size": 4, "record_size": 8, "fields": {"api_id": {"offset": 0, "type": "u8"}},
             "api_names": {"3": {"name": "svp_acl_mdl_execute", "type": "model"}}}})"};
}

}  // namespace msprof::fuzz
