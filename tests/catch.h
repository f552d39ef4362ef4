#pragma once

// Catch2 3 where there is one, else Catch2 2; tests write Approx for both
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
