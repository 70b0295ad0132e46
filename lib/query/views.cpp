#include "query/views.hpp"

#include <iterator>

#include "query/views_of.hpp"

namespace msprof {

const std::vector<View>& views() {
  static const std::vector<View> all = [] {
    std::vector<View> list = device_views();
    for (auto&& some : {host_views(), capture_views()}) {
      list.insert(list.end(), some.begin(), some.end());
    }
    return list;
  }();
  return all;
}

}  // namespace msprof
