# sk_master_worker, its part of the unit tests and its real runs.

FARM := base/check base/alloc base/json base/json_check base/rng base/options base/record base/world base/host base/env ops/lacks \
        time/clock time/load ops/work main/common masterworker/units masterworker/farm masterworker/sk_master_worker
UNIT += masterworker/units tests/test_units

all: $(BUILD)/sk_master_worker

$(BUILD)/sk_master_worker: $(FARM:%=$(BUILD)/o/%.o)
	$(MPICC) $(CFLAGS) -o $@ $^ $(LINK) $(LDFLAGS)

.PHONY: check_master_worker
check: check_master_worker
check_master_worker: check_neighbours
	@$(MAKE) -s -f $(SOURCE)Makefile $(BUILD)/sanitized/sk_master_worker $(BUILD)/sanitized/check_file BUILD=$(BUILD)/sanitized \
	  CFLAGS="$(SANITIZE) -fsanitize=address,undefined -Werror"
	@ASAN_OPTIONS=detect_leaks=0 sh $(SOURCE)tests/master_worker.sh $(BUILD)/sanitized $(PROCESSES)
