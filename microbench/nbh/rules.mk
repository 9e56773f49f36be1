# sk_neighbours, its part of the unit tests and its real runs; a simulator lacks what it measures.

NBH := base/check base/alloc base/json base/json_check base/rng base/options base/record base/world base/host base/env ops/lacks \
       time/clock time/offset time/stop time/sync time/pacer time/load ops/data ops/sheet ops/work main/common main/clocks \
       nbh/dims nbh/lists nbh/geometry nbh/experiment nbh/topology nbh/calls nbh/trial nbh/sk_neighbours
UNIT += nbh/dims nbh/lists nbh/geometry nbh/experiment tests/test_nbh

ifndef SIMULATED
all: $(BUILD)/sk_neighbours
endif

$(BUILD)/sk_neighbours: $(NBH:%=$(BUILD)/o/%.o)
	$(MPICC) $(CFLAGS) -o $@ $^ $(LINK) $(LDFLAGS)

.PHONY: check_neighbours
check: check_neighbours
check_neighbours:
	@$(MAKE) -s -f $(SOURCE)Makefile $(BUILD)/sanitized/sk_neighbours $(BUILD)/sanitized/check_file BUILD=$(BUILD)/sanitized \
	  CFLAGS="$(SANITIZE) -fsanitize=address,undefined -Werror"
	@ASAN_OPTIONS=detect_leaks=0 sh $(SOURCE)tests/neighbours.sh $(BUILD)/sanitized $(PROCESSES)
