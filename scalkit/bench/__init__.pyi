from scalkit.bench.arguments import Arguments as Arguments
from scalkit.bench.campaign.campaign import prepare as prepare
from scalkit.bench.campaign.loop import Campaign as Campaign
from scalkit.bench.campaign.refinement import Refinement as Refinement
from scalkit.bench.functions.callables import measure_callable as measure_callable
from scalkit.bench.libraries.mpi import Mpi as Mpi
from scalkit.bench.libraries.mpi import find_mpi as find_mpi
