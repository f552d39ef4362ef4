#define BS_ISA avx512
#define STANCE_WIDTH 16
#include "cpu/isa.h"
