# Two commands do everything on a fresh Debian 12 machine: make demo, make test.
.DEFAULT_GOAL := help
.PHONY: help deps build demo test test-all asan neon bench lint format clean

PACKAGES := python3 g++ cmake ninja-build ccache libopenblas-openmp-dev libhwy-dev libeigen3-dev libfmt-dev libcli11-dev \
            nlohmann-json3-dev libtomlplusplus-dev zlib1g-dev libpng-dev libgtest-dev libgmock-dev libbenchmark-dev libmpfr-dev protobuf-compiler
NEON_PACKAGES := g++-aarch64-linux-gnu qemu-user
LINT_PACKAGES := clang-format clang-tidy
JOBS ?= $(shell nproc)
# Another libtorch than Debian's: its folder, or "pip" for the one of $(PYTHON).
TORCH ?=
PYTHON ?= python3
export TORCH PYTHON
ifeq ($(TORCH),)
PACKAGES += libtorch-dev
endif

help:
	@echo "make demo    install what is missing, build, run the study of cures and print what it found"
	@echo "make test    install what is missing, build, run the tests (make test-all: the slow ones too)"
	@echo "make build   leaves the program at build/eureka"
	@echo "make bench   speed of training steps against stock PyTorch, and of the parts"
	@echo "make asan    the tests under the address and undefined-behaviour sanitizers"
	@echo "make neon    a cross build for 64-bit ARM, and the tests of the computing layers under qemu"
	@echo "make lint    formatting, layers, clang-tidy;  make format  puts the formatting right"
	@echo "make ... TORCH=DIR   with another libtorch, or TORCH=pip with the one of python3 (docs/gpu.md)"

deps:
	@scripts/install-packages $(PACKAGES)
	@scripts/use-openmp-blas

build: deps
	@scripts/configure release
	@cmake --build --preset release -j $(JOBS)

demo: build
	@build/eureka doctor
	@echo
	build/eureka study cures --seeds 10 --out runs/demo --resume

test: build
	@scripts/check-layers
	ctest --preset release -j $(JOBS) -LE slow

test-all: build
	@scripts/check-layers
	ctest --preset release -j $(JOBS)
	@$(MAKE) --no-print-directory neon

asan: deps
	@scripts/configure asan
	cmake --build --preset asan -j $(JOBS)
	ASAN_OPTIONS=detect_leaks=0 ctest --preset asan -j $(JOBS) -LE slow

neon: deps
	@scripts/install-packages $(NEON_PACKAGES)
	@scripts/aarch64-sysroot build-neon/sysroot
	cmake --preset neon
	cmake --build --preset neon -j $(JOBS)
	ctest --preset neon -j $(JOBS) -LE slow

bench: build
	@scripts/install-packages python3-torch
	build/eureka bench --against-pytorch --beside-rule norm_softmax --breakdown --start-up
	build/eureka_kernels_bench
	build/eureka_parts_bench
	build/eureka_data_bench

lint: build
	@scripts/install-packages $(LINT_PACKAGES)
	@scripts/check-layers
	clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.h')
	run-clang-tidy -quiet -p build $$(scripts/check-layers --torch-free) > build/clang-tidy.log 2>&1 || { cat build/clang-tidy.log; exit 1; }

format:
	@scripts/install-packages clang-format
	clang-format -i $$(git ls-files '*.cpp' '*.h')

clean:
	rm -rf build build-debug build-asan build-neon
