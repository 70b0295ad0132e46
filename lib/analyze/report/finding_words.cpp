#include "analyze/report/finding_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace msprof::report {

namespace {

using FindingWords = std::pair<std::string_view, std::string_view>;

constexpr std::array kFindingWords = {
    FindingWords{"outside_link", "链接指向采集目录之外,未读取"},
    FindingWords{"not_a_file", "原始数据的位置上不是普通文件"},
    FindingWords{"unreadable_file", "文件无法读取,或只能读取一部分"},
    FindingWords{"changed_file", "文件在读取过程中发生变化"},
    FindingWords{"missing_folder", "缺少主机目录或数据目录"},
    FindingWords{"second_folder", "同一设备有两个目录,只读取其中一个"},
    FindingWords{"missing_info", "信息文件缺失或损坏"},
    FindingWords{"missing_old_info", "缺少信息文件(2019 至 2021 年的采集可能没有)"},
    FindingWords{"broken_info", "信息文件格式不正确"},
    FindingWords{"info_differs", "信息文件有两份,内容不一致"},
    FindingWords{"unknown_version", "版本未知,按已知版本读取或不读取"},
    FindingWords{"unknown_chip", "芯片未知,依赖芯片的数据未读取"},
    FindingWords{"no_clock", "时钟没有频率或起始值,相关记录没有时间"},
    FindingWords{"no_end", "没有记录采集结束时间,采集可能提前中断"},
    FindingWords{"lost_records", "记录写入时空间不足,部分记录丢失"},
    FindingWords{"collector_loss", "采集工具自身记录了数据丢失"},
    FindingWords{"unclosed_file", "文件未关闭:应用没有正常结束采集"},
    FindingWords{"no_frequency", "AI Core 频率缺失或为 0,无法计算时间"},
    FindingWords{"unknown_short_name", "短文件名没有对应的 .done,未读取"},
    FindingWords{"missing_done", "文件没有 .done:应用没有正常结束,最后的记录丢失"},
    FindingWords{"done_without_length", ".done 没有说明文件长度"},
    FindingWords{"shorter_than_done", "文件比 .done 中的长度短"},
    FindingWords{"longer_than_done", "文件比 .done 中的长度长"},
    FindingWords{"missing_data_file", "数据文件或其中的切片缺失"},
    FindingWords{"trailing_bytes", "记录之后或之间有不属于任何记录的字节"},
    FindingWords{"damaged_record", "记录损坏,已忽略"},
    FindingWords{"missing_reduces", "部分迭代缺少其他迭代具有的 reduce 记录"},
    FindingWords{"records_missing", "记录的序号不连续:设备上有记录丢失"},
    FindingWords{"unknown_layout", "记录的布局未知,请用 --layout 描述"},
    FindingWords{"missing_fields", "布局没有说明部分字段的位置,需要这些字段的列为 N/A"},
    FindingWords{"no_execution", "要求记录模型的各层,但没有记录到模型的执行"},
    FindingWords{"longer_records", "记录比已知的长,新版本的字段未读取"},
    FindingWords{"unread_kind", "此类文件不支持,未读取"},
    FindingWords{"unread_records", "此类记录不支持,未读取"},
    FindingWords{"other_chip_files", "其他芯片系列的文件,未读取"},
    FindingWords{"unknown_chip_files", "此芯片的记录暂不支持"},
    FindingWords{"full_ring", "单板的调用缓冲区已满,最早的调用被覆盖"},
    FindingWords{"unnamed_layers", "layer.info 中没有层名,以 layer_<id> 显示"},
    FindingWords{"too_many_calls", "调用数超过单板缓冲区的容量,布局可能有误"},
    FindingWords{"guessed_names", "层名是从单板自有格式中猜测的"},
    FindingWords{"no_batch", "net.info 为单板自有格式,只使用其中的名称"},
    FindingWords{"unknown_apis", "调用没有已知名称,以 api_<id> 显示"},
    FindingWords{"missing_dictionary", "缺少字典,名称以数字显示"},
    FindingWords{"missing_names", "字典中没有的名称以数字显示"},
    FindingWords{"events_not_said", "采集中没有说明文件的计数器统计了什么"},
    FindingWords{"zero_frequency", "频率变为 0 的记录已忽略"},
    FindingWords{"half_call", "调用或区间缺少开始或结束,已忽略"},
    FindingWords{"half_task", "任务缺少开始或结束,已忽略"},
    FindingWords{"orphan_records", "主机记录不在任何调用之内"},
    FindingWords{"orphan_counters", "计数器不属于任何任务"},
    FindingWords{"overflowed_counters", "计数器溢出,数值保持原样"},
    FindingWords{"odd_tensors", "张量既不是输入也不是输出,已忽略"},
    FindingWords{"unknown_task_type", "任务类型没有名称,不在任何产物中"},
    FindingWords{"unseen_tasks", "任务已下发,但设备上没有看到"},
    FindingWords{"ambiguous_tasks", "多条主机记录对应设备上的同一任务,该任务没有算子"},
    FindingWords{"no_tasks", "没有芯片或时钟信息,无法读取设备的任务"},
};

}  // namespace

std::string_view chinese_finding(std::string_view id) {
  const auto at = std::find_if(kFindingWords.begin(), kFindingWords.end(),
                               [&](const FindingWords& one) { return one.first == id; });
  return at == kFindingWords.end() ? std::string_view() : at->second;
}

}  // namespace msprof::report
