"""Why a run takes as long as it does: the critical path, what delays others, and what a faster region would gain."""
