#include "doctor/check.hpp"
