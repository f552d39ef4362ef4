# batchsim_options: how every file of the project is compiled.
# A target, not global flags, so that a project that adds ours keeps its own.
include(CheckLanguage)

if(NOT BATCHSIM_CUDART MATCHES "^(shared|static)$")
  message(FATAL_ERROR "BATCHSIM_CUDART is \"${BATCHSIM_CUDART}\"; it can be shared or static")
endif()

set(BATCHSIM_HAVE_CUDA OFF)
if(BATCHSIM_CUDA)  # AUTO counts as true
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # before the language, which would choose a default of its own
    set(CMAKE_CUDA_ARCHITECTURES ${BATCHSIM_CUDA_ARCHITECTURES})
    string(TOUPPER ${BATCHSIM_CUDART} cudart)
    string(REPLACE "SHARED" "Shared" cudart ${cudart})
    string(REPLACE "STATIC" "Static" cudart ${cudart})
    set(CMAKE_CUDA_RUNTIME_LIBRARY ${cudart})
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(BATCHSIM_HAVE_CUDA ON)
  elseif(NOT BATCHSIM_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "BATCHSIM_CUDA is ${BATCHSIM_CUDA}, but there is no nvcc; put it on the PATH or set CUDACXX")
  endif()
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|i.86)$")
  set(BATCHSIM_X86 ON)
else()
  set(BATCHSIM_X86 OFF)
endif()

# One file per instruction set, named after it; all others are for the oldest processor. The latter come first: of a template of the
# standard library that several files have made, the linker keeps the first, and that one has to run everywhere. tests/isa_symbols.py looks.
function(batchsim_isa_sources result)
  set(newer)
  set(oldest)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    if(name MATCHES "avx512")
      set(flags -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512)
    elseif(name MATCHES "avx2")
      set(flags -mavx2 -mfma)
    else()
      list(APPEND oldest ${file})
      continue()
    endif()
    if(BATCHSIM_X86)
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${flags}")
      list(APPEND newer ${file})
    endif()
  endforeach()
  set(${result} ${oldest} ${newer} PARENT_SCOPE)
endfunction()

add_library(batchsim_options INTERFACE)
target_compile_features(batchsim_options INTERFACE cxx_std_20)

# -ffp-contract=off: a compiler that fuses where it likes would give each backend bits of its own
# -Wno-psabi: packs wider than a register never leave the file of their instruction set
set(warnings -Wall -Wextra -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # false alarms about std::string (GCC bug 105651)
  list(APPEND warnings -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
target_compile_options(batchsim_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${warnings};-ffp-contract=off>)
target_compile_definitions(batchsim_options INTERFACE $<$<BOOL:${BATCHSIM_X86}>:BATCHSIM_X86=1>)

if(BATCHSIM_HAVE_CUDA)
  target_compile_options(batchsim_options INTERFACE
    # -std by hand: older CMakes do not know what newer CUDAs can do
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-fmad=false;--expt-relaxed-constexpr;-lineinfo;-Xcompiler=-Wall,-Wextra,-Wno-psabi,-ffp-contract=off>)
  target_compile_definitions(batchsim_options INTERFACE BATCHSIM_CUDA=1)
endif()

# RUNPATH, not RPATH: LD_LIBRARY_PATH can then put another CUDA runtime under a program
target_link_options(batchsim_options INTERFACE LINKER:--enable-new-dtags)

if(BATCHSIM_SANITIZE)
  set(sanitize -fsanitize=${BATCHSIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(batchsim_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitize}>)
  target_link_options(batchsim_options INTERFACE -fsanitize=${BATCHSIM_SANITIZE})
endif()
