#include "analyze/advise/advice.hpp"
