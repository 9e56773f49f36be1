"""What a campaign runs on: MPI libraries that are found, added or simulated, and where their processes are put."""
