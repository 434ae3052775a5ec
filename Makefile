# The C helpers: build/drover-keeper and build/drover-shim. Only a C compiler and libc are needed; `make` with nothing to do is silent.
#   make                    both programs                make test-programs   fixtures, the test reaper and the byte vectors
#   make sanitize           a keeper and shim with ASan  make bench-programs  C programs of the benches
#   make format             clang-format                 make clean
#   make BUILD=dir DROVER_PROTOCOL_VERSION=2             another version elsewhere, for upgrade tests
MAKEFLAGS += --no-print-directory
BUILD ?= build
CC := $(if $(filter default,$(origin CC)),$(firstword $(foreach c,cc gcc clang,$(if $(shell command -v $(c)),$(c)))),$(CC))
MUSL := $(shell command -v musl-gcc)

WARN := -Wall -Wextra -Werror
CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE= $(WARN) $(CFLAGS) $(if $(DROVER_PROTOCOL_VERSION),-DDROVER_PROTOCOL_VERSION=$(DROVER_PROTOCOL_VERSION))

# musl makes the smallest programs and the quickest start; else static glibc, so that the shim runs in any container; else dynamic,
# which serves this machine only.
ifneq ($(MUSL),)
NATIVE_CC := $(MUSL)
STATIC := -static
else
NATIVE_CC := $(CC)
STATIC := $(if $(CC),$(shell mkdir -p $(BUILD) && echo 'int main(void){return 0;}' | $(CC) -x c -static -o $(BUILD)/.probe - 2>/dev/null && echo -static; rm -f $(BUILD)/.probe))
endif

SHIM := $(filter-out native/shim/main.c,$(wildcard native/shim/*.c))
OBJ := $(BUILD)/obj
SHARED := $(SHIM:%.c=$(OBJ)/%.o)
FIXTURES := $(patsubst test/fixtures/programs/%.c,$(BUILD)/test/programs/%,$(wildcard test/fixtures/programs/*.c))
BENCHES := $(patsubst bench/programs/%.c,$(BUILD)/bench/%,$(wildcard bench/programs/*.c))
REAPER := $(patsubst test/support/reaper.c,$(BUILD)/test/reaper,$(wildcard test/support/reaper.c))

.PHONY: all test-programs bench-programs sanitize format clean
all: $(BUILD)/drover-keeper $(BUILD)/drover-shim

ifeq ($(NATIVE_CC),)
$(error Drover needs a C compiler to build its helpers, and found none. Install one, for example `apt install gcc`, `dnf install gcc` or `apk add gcc musl-dev`, and try again)
endif

$(BUILD)/drover-keeper: $(OBJ)/native/keeper/main.o $(SHARED)
	$(NATIVE_CC) $(CFLAGS) $(STATIC) $^ -o $@

$(BUILD)/drover-shim: $(OBJ)/native/shim/main.o $(SHARED)
	$(NATIVE_CC) $(CFLAGS) $(STATIC) $^ -o $@
	@$(if $(STATIC),,echo 'note: no static libc was found, so drover-shim is dynamic and cannot be placed in containers of another libc')

$(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(NATIVE_CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Rewritten only when compiler or flags change, so that such a change rebuilds everything.
STAMP := $(NATIVE_CC) $(ALL_CFLAGS) $(STATIC)
ifneq ($(STAMP),$(file < $(OBJ)/flags))
$(shell mkdir -p $(OBJ))
$(file > $(OBJ)/flags,$(STAMP))
endif
$(OBJ)/flags: ;

test-programs: all $(FIXTURES) $(REAPER) $(BUILD)/test/vectors

bench-programs: $(BENCHES)

$(BUILD)/test/programs/%: test/fixtures/programs/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -pthread $< -o $@

$(BUILD)/test/reaper: test/support/reaper.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< -o $@

$(BUILD)/test/vectors: test/native/vectors.c native/protocol.h $(SHIM)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< $(SHIM) -o $@

$(BUILD)/bench/%: bench/programs/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -pthread $< -o $@

# Into a directory of its own; slow and large, for tests only. Sanitizers need glibc and cannot be linked statically.
SAN := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
sanitize: $(BUILD)/sanitize/drover-keeper $(BUILD)/sanitize/drover-shim
$(BUILD)/sanitize/drover-keeper: native/keeper/main.c $(SHIM) $(wildcard native/*.h native/shim/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE= $(WARN) $(SAN) native/keeper/main.c $(SHIM) -o $@
$(BUILD)/sanitize/drover-shim: native/shim/main.c $(SHIM) $(wildcard native/*.h native/shim/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE= $(WARN) $(SAN) native/shim/main.c $(SHIM) -o $@

format:
	clang-format -i $(wildcard native/*/*.c native/*/*.h test/native/*.c)

clean:
	rm -rf $(BUILD)/obj $(BUILD)/test $(BUILD)/bench $(BUILD)/sanitize $(BUILD)/drover-keeper $(BUILD)/drover-shim

-include $(SHARED:.o=.d) $(OBJ)/native/keeper/main.d $(OBJ)/native/shim/main.d
