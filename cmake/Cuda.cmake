# CUDA, if nvcc 13.0 or newer is here: STERNA_CUDA_FOUND. Without it all else builds; nothing but
# the module libsterna_cuda.so (kernels/CMakeLists.txt) asks for anything of NVIDIA's.
#
# nvcc is called by commands of our own, not as a language of the project: a configuration without
# CUDA does not differ then, and what ptxas says of each kernel is kept beside its object.
option(STERNA_CUDA "Build the module for NVIDIA's GPUs where nvcc 13.0 or newer is" ON)

set(STERNA_CUDA_FOUND OFF)
if(STERNA_CUDA AND NOT STERNA_SANITIZE)
  find_package(CUDAToolkit 13.0 QUIET)
  # Which cuDNN 8 does not have.
  find_path(STERNA_CUDNN_INCLUDE cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_path(STERNA_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cudart_static
     AND NOT (STERNA_CUDNN_INCLUDE AND STERNA_NCCL_INCLUDE))
    message(STATUS "CUDA ${CUDAToolkit_VERSION}: without the headers of cuDNN 9 and NCCL 2 no module for GPUs is built")
  elseif(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cudart_static)
    set(STERNA_CUDA_FOUND ON)
    message(STATUS "CUDA ${CUDAToolkit_VERSION}: the module for GPUs is built")
  else()
    message(STATUS "CUDA: no nvcc 13.0 or newer is here, and so no module for GPUs is built")
  endif()
endif()

# Code for these GPUs, and for newer ones what their drivers can compile.
set(STERNA_CUDA_CODE -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90
                     -gencode=arch=compute_100,code=[sm_100,compute_100])
# Each operation rounds by itself (no FMA but where it is written), and divisions are exact.
set(STERNA_CUDA_FLAGS -std=c++20 -O3 --fmad=false --expt-relaxed-constexpr -Werror=all-warnings
  -Xcompiler=-Wall,-Wextra,-Werror,-fPIC,-fvisibility=hidden,-ffp-contract=off --resource-usage)

# sterna_cuda_objects(OUT TARGET SOURCE...): compiles the .cu files, which include what a user of
# TARGET may, and lists the objects; beside each lies OBJECT.resources, what ptxas said.
function(sterna_cuda_objects out includes_of)
  set(includes "$<TARGET_PROPERTY:${includes_of},INTERFACE_INCLUDE_DIRECTORIES>")
  set(objects)
  foreach(source IN LISTS ARGN)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object} BYPRODUCTS ${object}.resources DEPFILE ${object}.d VERBATIM
      COMMAND ${CMAKE_COMMAND} -DOBJECT=${object} -P ${CMAKE_SOURCE_DIR}/cmake/compile_cuda.cmake --
        ${CCACHE} ${CUDAToolkit_NVCC_EXECUTABLE} -ccbin ${CMAKE_CXX_COMPILER} ${STERNA_CUDA_FLAGS}
        ${STERNA_CUDA_CODE} "-I$<JOIN:${includes},;-I>" -c ${CMAKE_CURRENT_SOURCE_DIR}/${source}
        -o ${object} -MD -MF ${object}.d -MT ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${CMAKE_SOURCE_DIR}/cmake/compile_cuda.cmake
      COMMENT "Compiling ${source} for GPUs" COMMAND_EXPAND_LISTS)
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
