# Finds MuJoCo and makes the target mujoco::mujoco, from the first of
#   MUJOCO_DIR (variable or environment)   a folder with include/mujoco and libmujoco in it or in its lib/
#   find_package(mujoco CONFIG)            an installed MuJoCo
#   BATCHSIM_MUJOCO_WHEEL                  the unpacked Python wheel; fetched there if BATCHSIM_GET_MUJOCO is on
# and stops if it is another version: results are compared with this one to the last digits.
set(_mujoco_want 4.0.0)

# the C macro is 1000000 * major + 1000 * minor + patch; it was 100 * major + 10 * minor + patch before 4.0
function(_mujoco_version include result)
  set(version unknown)
  if(EXISTS ${include}/mujoco/mujoco.h)
    file(STRINGS ${include}/mujoco/mujoco.h line REGEX "^#define mjVERSION_HEADER +[0-9]+" LIMIT_COUNT 1)
    string(REGEX MATCH "[0-9]+" v "${line}")
    if(v GREATER 999999)
      math(EXPR major "${v} / 1000000")
      math(EXPR minor "${v} / 1000 % 1000")
      math(EXPR patch "${v} % 1000")
      set(version ${major}.${minor}.${patch})
    elseif(v)
      string(REGEX REPLACE "^([0-9]+)([0-9])([0-9])$" "\\1.\\2.\\3" version ${v})
    endif()
  endif()
  set(${result} ${version} PARENT_SCOPE)
endfunction()

# a library of another version is taken too, for the message below
function(_mujoco_from_folder folder)
  foreach(name IN ITEMS libmujoco.so.${_mujoco_want} libmujoco.so)
    list(APPEND places ${folder}/${name} ${folder}/lib/${name})
  endforeach()
  file(GLOB others ${folder}/libmujoco.so.* ${folder}/lib/libmujoco.so.*)
  foreach(library IN LISTS places others)
    if(EXISTS ${library} AND EXISTS ${folder}/include/mujoco/mujoco.h)
      add_library(mujoco::mujoco SHARED IMPORTED GLOBAL)
      set_target_properties(mujoco::mujoco PROPERTIES
        IMPORTED_LOCATION ${library}
        INTERFACE_INCLUDE_DIRECTORIES ${folder}/include)
      break()
    endif()
  endforeach()
endfunction()

# mujoco-core is made for each Python, but the library in it is the same: any one will do
function(_mujoco_fetch folder)
  message(STATUS "Downloading MuJoCo ${_mujoco_want} into ${folder}")
  set(temporary ${folder}.part)
  file(REMOVE_RECURSE ${temporary})
  file(MAKE_DIRECTORY ${temporary})
  execute_process(
    COMMAND python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all:
            --implementation cp --python-version 3.11 --abi cp311 --dest . mujoco-core==${_mujoco_want}
    WORKING_DIRECTORY ${temporary} RESULT_VARIABLE failed)
  file(GLOB wheel ${temporary}/*.whl)
  if(failed OR NOT wheel)
    message(FATAL_ERROR "pip could not download mujoco-core==${_mujoco_want}; set MUJOCO_DIR to a MuJoCo ${_mujoco_want}")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${temporary}
       PATTERNS "mujoco/libmujoco*" "mujoco/include/*" "*/licenses/*")
  file(REMOVE ${wheel})
  # last, so that an interrupted download never looks like a finished one
  file(REMOVE_RECURSE ${folder})
  file(RENAME ${temporary} ${folder})
endfunction()

if(NOT TARGET mujoco::mujoco)
  if(NOT MUJOCO_DIR AND DEFINED ENV{MUJOCO_DIR})
    set(MUJOCO_DIR $ENV{MUJOCO_DIR})
  endif()
  if(MUJOCO_DIR)
    _mujoco_from_folder(${MUJOCO_DIR})
    if(NOT TARGET mujoco::mujoco)
      message(FATAL_ERROR "MUJOCO_DIR is ${MUJOCO_DIR}, but include/mujoco/mujoco.h or libmujoco is not there")
    endif()
  else()
    find_package(mujoco CONFIG QUIET GLOBAL)
    if(NOT TARGET mujoco::mujoco AND BATCHSIM_MUJOCO_WHEEL)
      if(BATCHSIM_GET_MUJOCO AND NOT EXISTS ${BATCHSIM_MUJOCO_WHEEL}/mujoco/include)
        _mujoco_fetch(${BATCHSIM_MUJOCO_WHEEL})
      endif()
      _mujoco_from_folder(${BATCHSIM_MUJOCO_WHEEL}/mujoco)
    endif()
  endif()
endif()

if(TARGET mujoco::mujoco)
  get_target_property(MuJoCo_INCLUDE_DIR mujoco::mujoco INTERFACE_INCLUDE_DIRECTORIES)
  list(GET MuJoCo_INCLUDE_DIR 0 MuJoCo_INCLUDE_DIR)
  _mujoco_version(${MuJoCo_INCLUDE_DIR} MuJoCo_VERSION)
  if(NOT MuJoCo_VERSION STREQUAL _mujoco_want)
    message(FATAL_ERROR "batchsim needs MuJoCo ${_mujoco_want}, but ${MuJoCo_INCLUDE_DIR} is MuJoCo ${MuJoCo_VERSION}")
  endif()
  set(MuJoCo_FOUND TRUE)
else()
  set(MuJoCo_FOUND FALSE)
  if(MuJoCo_FIND_REQUIRED)
    message(FATAL_ERROR
      "MuJoCo ${_mujoco_want} is not there: set MUJOCO_DIR, install it, or let -DBATCHSIM_GET_MUJOCO=ON download it")
  endif()
endif()
