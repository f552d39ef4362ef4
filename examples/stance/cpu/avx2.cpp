#define BS_ISA avx2
#define STANCE_WIDTH 8
#include "cpu/isa.h"
