#include "runtime/mstx/injection.hpp"

#include <atomic>

namespace msprof::mstx {

namespace {

// The functions below have no context parameter: the process has a single recorder.
std::atomic<TxRecorder*> current{nullptr};

TxRecorder& recorder() {
  return *current.load(std::memory_order_acquire);
}

TxRecorder::Domain* to_domain(mstxDomainHandle_t handle) {
  return reinterpret_cast<TxRecorder::Domain*>(handle);
}

void mark(const char* message, aclrtStream stream) {
  recorder().mark(message, stream);
}

mstxRangeId start_range(const char* message, aclrtStream stream) {
  return recorder().start_range(message, stream);
}

void end_range(mstxRangeId id) {
  recorder().end_range(id);
}

void get_tool_id(std::uint64_t* id) {
  if (id != nullptr) *id = MSTX_TOOL_MSPROF_ID;
}

mstxDomainHandle_t create_domain(const char* name) {
  return reinterpret_cast<mstxDomainHandle_t>(recorder().create_domain(name));
}

void destroy_domain(mstxDomainHandle_t domain) {
  recorder().destroy_domain(to_domain(domain));
}

void mark_in_domain(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
  recorder().mark(to_domain(domain), message, stream);
}

mstxRangeId start_range_in_domain(mstxDomainHandle_t domain, const char* message,
                                  aclrtStream stream) {
  return recorder().start_range(to_domain(domain), message, stream);
}

void end_range_in_domain(mstxDomainHandle_t domain, mstxRangeId id) {
  recorder().end_range(to_domain(domain), id);
}

// The functions of one client module, by number.
class Table {
 public:
  Table(mstxGetModuleFuncTableFunc get_table, mstxFuncModule module) {
    if (get_table(module, &functions_, &size_) != MSTX_SUCCESS || functions_ == nullptr) size_ = 0;
  }
  bool is_there() const { return size_ > 0; }

  // Ignores functions that an older client does not have.
  template <typename Function>
  void set(unsigned int number, Function* function) {
    if (number < size_ && functions_[number] != nullptr) {
      *functions_[number] = reinterpret_cast<mstxFuncPointer>(function);
    }
  }

 private:
  mstxFuncTable functions_ = nullptr;
  unsigned int size_ = 0;
};

}  // namespace

int fill_tables(mstxGetModuleFuncTableFunc get_table, TxRecorder& recorder) {
  if (get_table == nullptr) return MSTX_FAIL;
  current.store(&recorder, std::memory_order_release);
  Table core(get_table, MSTX_API_MODULE_CORE);
  if (!core.is_there()) return MSTX_FAIL;
  core.set(MSTX_API_CORE_MARK_A, mark);
  core.set(MSTX_API_CORE_RANGE_START_A, start_range);
  core.set(MSTX_API_CORE_RANGE_END, end_range);
  core.set(MSTX_API_CORE_GET_TOOL_ID, get_tool_id);
  // The domain module is optional.
  Table domain(get_table, MSTX_API_MODULE_CORE_DOMAIN);
  domain.set(MSTX_API_CORE2_DOMAIN_CREATE_A, create_domain);
  domain.set(MSTX_API_CORE2_DOMAIN_DESTROY, destroy_domain);
  domain.set(MSTX_API_CORE2_DOMAIN_MARK_A, mark_in_domain);
  domain.set(MSTX_API_CORE2_DOMAIN_RANGE_START_A, start_range_in_domain);
  domain.set(MSTX_API_CORE2_DOMAIN_RANGE_END, end_range_in_domain);
  return MSTX_SUCCESS;
}

}  // namespace msprof::mstx
