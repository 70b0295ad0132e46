// The names of numbers in host records; a number without one is its decimal text.
// For the host join. Source: cann_host.md 1.9.
#pragma once

#include <cstdint>
#include <string>

namespace msprof::cann {

std::string task_type_name(std::uint32_t number);  // T1: "AI_VECTOR_CORE"
std::string data_type_name(std::uint32_t number);  // T2: "FLOAT16"
// T3 with the sub format: "ND", "FRACTAL_NZ:3".
std::string format_name(std::uint32_t number);
std::string acl_class_name(std::uint32_t type);  // T9, of an api's whole type: "ACL_RTS"

}  // namespace msprof::cann
