#define BS_ISA baseline
#define STANCE_WIDTH 4
#include "cpu/isa.h"
