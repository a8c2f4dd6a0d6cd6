# Two commands do everything on a fresh Debian 12 machine: make demo, make test.
.DEFAULT_GOAL := help
.PHONY: help packages build web demo pictures test test-all test-cluster wheel test-python asan tsan fuzz clang check-all neon bench lint format clean install package

# What the program needs, without libtorch; what the reference engine on libtorch needs; what the tests and benches need.
PROGRAM_PACKAGES := g++ cmake ninja-build ccache libhwy-dev libeigen3-dev libfmt-dev libcli11-dev nlohmann-json3-dev \
                    libtomlplusplus-dev zlib1g-dev libpng-dev libmicrohttpd-dev python3
TORCH_PACKAGES := libopenblas-openmp-dev libgloo-dev
TEST_PACKAGES := python3 libgtest-dev libgmock-dev libmpfr-dev protobuf-compiler
# The Python package with what Debian has of NumPy and PyTorch.
PYTHON_TEST_PACKAGES := python3-dev python3-venv python3-pip python3-numpy python3-pytest python3-torch
# What the statistics are held against.
ORACLE_PACKAGES := r-cran-survival
BENCH_PACKAGES := libbenchmark-dev libopenblas-openmp-dev python3-torch
PYTHON_PACKAGES := python3-dev python3-venv python3-pip
CLUSTER_PACKAGES := slurmctld slurmd slurm-client munge faketime parallel
NEON_PACKAGES := g++-aarch64-linux-gnu qemu-user
WEB_PACKAGES := nodejs npm
LINT_PACKAGES := clang clang-format clang-tidy python3
CLANG_PACKAGES := clang libclang-rt-14-dev
PACKAGE_PACKAGES := dpkg-dev file
# Of fuzzing, for each target.
SECONDS ?= 60
JOBS ?= $(shell nproc)
# Another libtorch than Debian's: its folder, or "pip" for the one of $(PYTHON).
TORCH ?=
PYTHON ?= python3
export TORCH PYTHON
ifeq ($(TORCH),)
# Gloo's headers: for one run over several processes.
TORCH_PACKAGES += libtorch-dev
endif

help:
	@echo "make demo    install what is missing, build, train one run, run the study of cures, print what it found, write a report of it"
	@echo "make test    install what is missing, build, run the tests (make test-all: the slow ones too)"
	@echo "make test-cluster  studies through a real Slurm of three nodes on this machine, with faults"
	@echo "make build   leaves the program at build/eureka, with the reference engine on libtorch"
	@echo "make web     the interactive page of eureka serve and of reports, by npm; make build compiles it in if it is there"
	@echo "make wheel   the Python package, eureka-lab, in dist/;  make test-python  its tests, with PyTorch 2.13 in a virtual environment"
	@echo "make install PREFIX=/usr/local   the program, manual pages, completions for bash, zsh and fish (as root where PREFIX asks for it)"
	@echo "make package   Debian packages in build/packages: eureka, and eureka-torch with the reference engine"
	@echo "make pictures  those of README and docs/pictures, from the runs of make demo"
	@echo "make bench   speed of training steps against PyTorch, and of the parts"
	@echo "make asan    the tests under the address and undefined-behaviour sanitizers"
	@echo "make tsan    threads and studies under the thread sanitizer;  make fuzz SECONDS=60  every reader of files under libFuzzer"
	@echo "make check-all   asan, tsan, lint, and a build by clang"
	@echo "make neon    a cross build for 64-bit ARM, and the tests of the computing layers under qemu"
	@echo "make lint    formatting, layers, clang-tidy;  make format  puts the formatting right"
	@echo "make ... TORCH=DIR   with another libtorch, or TORCH=pip with the one of python3 (docs/gpu.md)"

packages:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(TORCH_PACKAGES)
	@scripts/use-openmp-blas

build: packages
	@scripts/build-web --if-possible
	@scripts/configure release TORCH
	@cmake --build --preset release -j $(JOBS) --target eureka

# Whoever brings a node of their own needs none of Debian's.
web:
	@command -v npm > /dev/null || scripts/install-packages $(WEB_PACKAGES)
	@scripts/build-web

# Without libtorch, unless the folder has it already.
demo:
	@echo "== 1 of 5: compiler and libraries from Debian, where missing: about a minute the first time"
	@scripts/install-packages $(PROGRAM_PACKAGES)
	@echo "== 2 of 5: the program is built: three minutes on two cores the first time"
	@scripts/configure release
	@cmake --build --preset release -j $(JOBS) --target eureka
	@echo "== 3 of 5: one run, and its curve: two seconds"
	build/eureka train two-step --seed 1 --out runs/demo/run --resume
	@echo "== 4 of 5: the study of cures, 130 runs: two minutes on two cores; if you stop it, make demo continues it"
	build/eureka study cures --seeds 10 --set train.until=moment --out runs/demo/cures --resume
	@echo "== 5 of 5: run and study as one page to look at, or to send: a second"
	@build/eureka report runs/demo/cures runs/demo/run -o runs/demo/report.html > /dev/null
	@echo "open this in a browser: $(CURDIR)/runs/demo/report.html"

# DESTDIR goes before it, for whoever makes packages. Without the reference engine unless it has been built: make build.
PREFIX ?= /usr/local
install:
	@test -x build/eureka || $(MAKE) --no-print-directory build
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX) --component program
	@if [ -e build/libeureka_torch.so ]; then DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX) --component torch; fi

package: build
	@scripts/install-packages $(PACKAGE_PACKAGES)
	cpack --config build/CPackConfig.cmake -B build/packages
	@ls build/packages/*.deb

# Those of README and docs, made anew from the runs of make demo; those of the interactive page need Debian's chromium.
pictures: web demo
	@mkdir -p docs/pictures
	build/eureka report runs/demo/cures --figure speedup -o docs/pictures/speedup.png
	build/eureka report runs/demo/cures --figure survival -o docs/pictures/survival.png
	build/eureka report runs/demo/run --figure curve -o docs/pictures/curve.png
	rm -rf runs/demo/looks && build/eureka look runs/demo/run@moment --diagnostic maps --out runs/demo/looks > /dev/null
	build/eureka report runs/demo/looks --figure attention-1 -o docs/pictures/attention.png
	@scripts/install-packages chromium
	node web/scripts/pictures.mjs build/eureka runs/demo docs/pictures

test: packages
	@scripts/install-packages $(TEST_PACKAGES) $(PYTHON_TEST_PACKAGES) $(ORACLE_PACKAGES)
	@scripts/check-layers
	@scripts/build-web --if-possible
	@scripts/configure release TORCH TESTS
	@scripts/python-part
	@cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $(JOBS) -LE 'slow|slurm|browser'
	ctest --preset release -L browser --repeat until-pass:2

# A real Slurm of three nodes on this machine; three minutes.
test-cluster:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(TEST_PACKAGES) $(CLUSTER_PACKAGES)
	@scripts/configure release TESTS
	@cmake --build --preset release -j $(JOBS) --target eureka
	ctest --preset release -L slurm --repeat until-pass:2

test-all: test
	ctest --preset release -j $(JOBS) -L slow
	@$(MAKE) --no-print-directory neon

# The Python package: what it makes lies in dist/.
wheel:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(PYTHON_PACKAGES)
	$(PYTHON) -m pip wheel --no-deps --wheel-dir dist .

test-python:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(PYTHON_PACKAGES)
	@scripts/configure release
	@scripts/test-python $(PYTHON) $(JOBS)

asan: packages
	@scripts/install-packages $(TEST_PACKAGES)
	@scripts/configure asan TORCH TESTS
	cmake --build --preset asan -j $(JOBS)
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 ctest --preset asan -j $(JOBS) -LE 'slow|slurm'

tsan:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(TEST_PACKAGES)
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	scripts/tsan

fuzz:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(TEST_PACKAGES) $(CLANG_PACKAGES)
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	scripts/fuzz $(SECONDS)

clang: packages
	@scripts/install-packages $(TEST_PACKAGES) $(CLANG_PACKAGES) libc++-14-dev libc++abi-14-dev
	cmake --preset clang
	cmake --build --preset clang -j $(JOBS) -- -k 0
	scripts/clang-torch $(JOBS)

check-all: lint asan tsan clang

neon:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(TEST_PACKAGES) $(NEON_PACKAGES)
	@scripts/aarch64-sysroot build-neon/sysroot
	cmake --preset neon
	cmake --build --preset neon -j $(JOBS)
	ctest --preset neon -j $(JOBS) -LE 'slow|slurm'

bench: packages
	@scripts/install-packages $(BENCH_PACKAGES)
	@scripts/configure release TORCH BENCH
	@cmake --build --preset release -j $(JOBS) --target eureka eureka_kernels_bench eureka_parts_bench eureka_data_bench
	build/eureka bench --against-pytorch --beside-rule norm_softmax --breakdown --start-up
	build/eureka_kernels_bench
	build/eureka_parts_bench
	build/eureka_data_bench

lint:
	@scripts/install-packages $(PROGRAM_PACKAGES) $(LINT_PACKAGES)
	@scripts/check-layers
	clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.h')
	@scripts/configure lint
	scripts/lint --jobs $(JOBS)

format:
	@scripts/install-packages clang-format
	clang-format -i $$(git ls-files '*.cpp' '*.h')

clean:
	rm -rf web/dist web/build build build-debug build-asan build-tsan build-fuzz build-clang build-neon build-lint
