"""GPUs: what an SM holds, how many worlds that makes, and what a world-step would take.

What an SM holds: CUDA C++ Programming Guide 13.0, "Compute Capabilities", and the toolkit's cuda_occupancy.h, the rules of resident().
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Sm:
    shared: int  # bytes, of which each block takes RESERVED
    blocks: int
    warps: int


KB = 1024
RESERVED = 1 * KB          # shared memory that CUDA keeps of each block
SHARED_STEP = 128          # bytes, what shared memory is given out in
REGISTERS = 65536          # of an SM, a quarter to each scheduler
REGISTERS_STEP = 256       # what a warp is given them in
SCHEDULERS = 4
SMS = {80: Sm(164 * KB, 32, 64), 86: Sm(100 * KB, 16, 48), 89: Sm(100 * KB, 24, 48), 90: Sm(228 * KB, 32, 64),
       120: Sm(100 * KB, 24, 48)}


@dataclass(frozen=True)
class Gpu:
    name: str
    arch: int
    sms: int
    clock: float      # Hz, boost
    bandwidth: float  # bytes/s, of its own memory


# NVIDIA's whitepapers on GA102, Ada, RTX Blackwell, A100 and H100; bandwidths of A100 (80 GB, SXM) and H200 (SXM) from their data sheets.
# H200: SMs and clock of the H100 SXM, by its 67 TFLOPS
GPUS = [
    Gpu("RTX 3090", 86, 82, 1.695e9, 936e9),
    Gpu("RTX 4090", 89, 128, 2.52e9, 1008e9),
    Gpu("RTX 5090", 120, 170, 2.407e9, 1792e9),
    Gpu("A100", 80, 108, 1.41e9, 2039e9),
    Gpu("H200", 90, 132, 1.98e9, 4800e9),
]

# Assumed, not measured. A phase between two barriers is a chain: an index, a value at it, eight dependent operations of four cycles
BARRIER = 30                                # cycles
PHASE = {"shared": 100, "global": 500}      # cycles; loads of 30 from shared memory, of some 230 from L2
LAUNCH, LAUNCH_WORLDS = 2e-6, 8192          # s, and the worlds that share it
SECTOR = 32                                 # bytes


def resident(arch, registers, shared, warps):
    """Worlds on an SM at once, a block of `warps` each, and what limits them."""
    sm = SMS[arch]
    a_warp = -(-registers * 32 // REGISTERS_STEP) * REGISTERS_STEP
    a_block = -(-(shared + RESERVED) // SHARED_STEP) * SHARED_STEP
    limits = {"registers": REGISTERS // SCHEDULERS // a_warp * SCHEDULERS // warps, "shared memory": sm.shared // a_block,
              "blocks": sm.blocks, "warps": sm.warps // warps}
    least = min(limits.values())
    return least, next(name for name, worlds in limits.items() if worlds == least)


@dataclass(frozen=True)
class Prediction:
    gpu: Gpu
    worlds: int         # on an SM
    terms: dict         # s a world-step: issue, bytes, barriers
    launch: float       # s
    cached_bytes: float  # s, instead of the bytes of `terms`

    @property
    def binds(self):
        return max(self.terms, key=self.terms.get)

    @property
    def seconds(self):
        return max(self.terms.values()) + self.launch

    @property
    def cached_seconds(self):
        return max(self.terms["issue"], self.cached_bytes, self.terms["barriers"]) + self.launch


def predict(gpu, row, worlds, memory, own_bytes):
    """t = max(instructions / issue rate, bytes / bandwidth, barriers x latency / resident worlds) + launches.

    A scheduler issues a warp instruction a clock. Bytes are all sectors, as if there were no cache; cached_bytes are own_bytes, a
    world's own numbers, if that is less. memory: where the phases between the barriers find their numbers, as in PHASE.
    """
    sectors = (row["load_sectors"] + row["store_sectors"]) * SECTOR
    barriers = row["barriers"] / row["warps_a_world"]
    terms = {"issue": row["warp_instructions"] / (gpu.sms * SCHEDULERS * gpu.clock), "bytes": sectors / gpu.bandwidth,
             "barriers": barriers * (BARRIER + PHASE[memory]) / gpu.clock / (worlds * gpu.sms)}
    launch = row["launches"] * LAUNCH / LAUNCH_WORLDS
    return Prediction(gpu, worlds, terms, launch, min(sectors, own_bytes) / gpu.bandwidth)
