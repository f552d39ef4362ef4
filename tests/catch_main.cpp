// main() of the test programs, for Catch2 2 only
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
