# Shared by the Makefiles of trace/, trace/otf2/ and notebooks/onesided/, which set SOURCE and BUILD before.

MPICC   ?= mpicc
MPIEXEC ?= mpiexec
CFLAGS  ?= -O2 -g

ifneq ($(findstring SimGrid,$(shell $(MPICC) --version 2>/dev/null)),)
SIMULATED := -DSK_SIMULATED -DSMPI_NO_OVERRIDE_MALLOC
endif

include $(SOURCE)warnings.mk
STANDARD := -std=gnu11 -I$(SOURCE) $(SIMULATED) -fPIC -fno-omit-frame-pointer
# Without optimisation: compiling the wrappers of all calls under the sanitizers takes a third of the time.
SANITIZE := -O0 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined -fsanitize=address,undefined -Werror

.DEFAULT_GOAL := all
.PHONY: all check
.DELETE_ON_ERROR:
.SECONDARY:

$(BUILD)/o/%.o: $(SOURCE)%.c
	@mkdir -p $(@D)
	$(MPICC) $(STANDARD) $(WARNINGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
