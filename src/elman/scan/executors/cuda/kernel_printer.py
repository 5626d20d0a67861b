"""A step of a formula as a CUDA kernel over all steps: what the forward and the backward kernel share.

The printed half stands after persistent.cuh. Every thread has a few pairs of a unit and a row in each class of
width (``PAIR``), and holds their states and what it will read at the next step in registers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path

from elman.formula import Node
from elman.formula.cuda_source import HEADER, print_statements
from elman.scan.executors.cuda.kernel_plan import KernelPlan
from elman.scan.executors.cuda.schedule import Phase
from elman.scan.executors.cuda.tiling import SharedMemory, share_words

_FEW_PAIRS = 2  # whose values a thread can hold a while longer
AHEAD = 4  # steps between a request to the second level cache and its use

PAIR = """\
#define PAIR(UNITS, SIZE) \\
  const int e = threadIdx.x + i * THREADS, n = e / UNITS, u = e % UNITS, j = rank * UNITS + u; \\
  const int b = first + c * CHUNK * 8 + n, unit = head * SIZE + j; \\
  const bool inside = e < UNITS * CHUNK * 8, real = inside && j < SIZE && b < count;"""


@dataclass(frozen=True)
class Load:
    """A number that a pair reads from memory at every step, one step ahead."""

    register: str
    width: int  # the class
    type: str  # u16 or float
    address: str  # in terms of PAIR, ``token``, ``before`` and ``after``


@dataclass
class Stage:
    """Numbers that wait in shared memory to be sent: of each row of the group, those of this block."""

    units: int
    owners: int  # the blocks that have any
    offset: int
    target: str  # memory, up to the first number of this block for the group's first row
    stride: str
    product: int | None = None  # whose factor it is
    column: int = 0  # of this block's first number within the factor

    def put(self, value: str) -> str:
        index = f"{self.offset} + (c * CHUNK * 8 + n) * {self.units} + u"
        return f"if (inside) stage[{index}] = real ? to_half({value}) : (u16)0;"


@dataclass
class PairBody:
    """What a pair does in one phase."""

    values: dict[str, Node] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    late: list[tuple[str, str]] = field(default_factory=list)  # what nobody waits for: a value, and its line


class KernelPrinter(ABC):
    """Prints one kernel."""

    name: str

    def __init__(self, plan: KernelPlan, dtype: str, *, ragged: bool) -> None:
        self.plan, self.tiling, self.dtype, self.ragged = plan, plan.tiling, dtype, ragged
        self.arguments: dict[str, str] = {}  # pointers by name, with their type
        self.registers: dict[str, tuple[int, str]] = {}  # arrays of pairs: class and type
        self.loads: dict[str, Load] = {}
        self.polled: list[Load] = []  # what will be sent: a poll that misses the cache takes as long as a step
        self.memory = SharedMemory()
        products = range(len(plan.values.trace.products))
        self.matrices = share_words([self.shape(k) for k in products], self.tiling)
        self.phases = self.plan_phases()
        lines = self.print_phases()
        self.text = self._join(lines)

    # What the two kernels say of themselves.

    @abstractmethod
    def shape(self, k: int) -> tuple[int, int]:
        """The rows of a block's part of matrix k, and the length of what it multiplies."""

    @abstractmethod
    def plan_phases(self) -> list[Phase]: ...

    @abstractmethod
    def weight(self, k: int) -> list[str]:
        """The body of a function of a row ``m`` and a column ``k`` of a block's part of matrix k: where eight
        elements from there on lie."""

    @abstractmethod
    def source(self, k: int) -> tuple[str, str, int]:
        """Where what matrix k multiplies lies in memory: its first row of the group, stride and width."""

    @abstractmethod
    def leaf(self, a: Node, phase: int) -> str: ...

    @abstractmethod
    def results(self, k: int) -> dict[str, tuple[int, int]]:
        """The results of product k: the class of width and the first row of each."""

    @abstractmethod
    def finish(self, phase: Phase, bodies: Mapping[int, PairBody]) -> list[Stage]:
        """Say what becomes of the values of a phase; what is to be sent is returned."""

    @abstractmethod
    def print_loop(self, phases: list[list[str]]) -> list[str]: ...

    # Pairs.

    def units(self, width: int) -> int:
        return self.tiling.units(self.plan.class_sizes[width])

    def argument(self, name: str, kind: str) -> str:
        self.arguments[name] = kind
        return name

    def register(self, name: str, width: int, kind: str = "float") -> str:
        self.registers[name] = (width, kind)
        return f"{name}[c][i]"

    def load(self, name: str, width: int, address: str, kind: str) -> str:
        """The value of a number that is read ahead."""
        self.loads[name] = Load(name, width, kind, address)
        place = self.register(name, width, kind)
        return f"to_float({place})" if kind == "u16" else place

    def parameter(self, name: str) -> str:
        width = self.plan.values.classes[self.plan.formula.gates[0]]
        self.argument(f"p_{name}", "const float*")
        return self.register(f"unit_{name}", width)

    def input(self, gate: str) -> str:
        """A number of the input, all gates of which lie side by side."""
        width = self.plan.values.classes[gate]
        address = self.place(
            self.argument("x", "const u16*"), "token", self.input_width, self.gate_column(gate)
        )
        return self.load(f"x_{gate}", width, address, "u16")

    def mask(self, name: str) -> str:
        width = self.plan.values.classes[name]
        total = self.plan.class_sizes[width] * self.plan.heads
        address = self.place(self.argument(f"m_{name}", "const u16*"), "token", total)
        return self.load(f"mask_{name}", width, address, "u16")

    @staticmethod
    def place(buffer: str, row: str, width: int, column: int = 0) -> str:
        """Where the number of a pair lies; what is the same for all pairs is computed apart from the rest."""
        return f"({buffer} + (u64)({row}) * {width}) + (b * {width} + {column} + unit)"

    @property
    def input_width(self) -> int:
        return sum(self.plan.size[gate] for gate in self.plan.formula.gates) * self.plan.heads

    def gate_column(self, gate: str) -> int:
        gates = self.plan.formula.gates
        return sum(self.plan.size[g] for g in gates[: gates.index(gate)]) * self.plan.heads

    def print_pairs(self, width: int, lines: Iterable[str]) -> list[str]:
        """A loop over a thread's pairs of a class, within chunk ``c``."""
        pairs = self.tiling.pairs(self.plan.class_sizes[width])
        head = f"PAIR({self.units(width)}, {self.plan.class_sizes[width]})"
        return ["#pragma unroll", f"for (int i = 0; i < {pairs}; i++) {{", *indent([head, *lines]), "}"]

    def print_all_pairs(self, bodies: Mapping[int, Iterable[str]]) -> list[str]:
        loops = [line for width, lines in bodies.items() for line in self.print_pairs(width, lines)]
        return ["#pragma unroll", "for (int c = 0; c < CHUNKS; c++) {", *indent(loops), "}"]

    # Phases.

    def print_phases(self) -> list[str]:
        phases = []
        for number, phase in enumerate(self.phases):
            bodies = self._compute(number, phase)
            stages = self.finish(phase, bodies)
            late = self._postpone(bodies) if stages else {}
            loops = [
                line
                for width, body in bodies.items()
                for line in self.print_pairs(width, self._print_body(number, body))
            ]
            follower = self.phases[(number + 1) % len(self.phases)]
            waits = bool(stages) or follower.product is not None or not follower.sends
            lines = [*self._print_phase(phase, loops, waits), *self.print_sends(stages)]
            phases.append([*lines, *(self.print_all_pairs(late) if late else [])])
        return self.print_loop(phases)

    def _print_phase(self, phase: Phase, loops: list[str], waits: bool) -> list[str]:
        if phase.product is None:
            if not loops:
                return []
            return ["#pragma unroll", "for (int c = 0; c < CHUNKS; c++) {", *indent(loops), "}", *_SYNC[waits]]
        multiply = [*self._print_product(phase.product), "__syncthreads();", *loops]
        sync = ["__syncthreads();"] if waits else ["if (c + 1 < CHUNKS) __syncthreads();"]
        chunks = ["#pragma unroll", "for (int c = 0; c < CHUNKS; c++) {", *indent([*multiply, *sync]), "}"]
        return [*self._print_wait(phase.product), *chunks]

    def _compute(self, number: int, phase: Phase) -> dict[int, PairBody]:
        """A body for every class that has something to do."""
        bodies: dict[int, PairBody] = {}
        for name, a in phase.values.items():
            bodies.setdefault(self.value_class(name, a), PairBody()).values[name] = a
        if phase.product is not None:
            for name, (width, row) in self.results(phase.product).items():
                result = f"{self.matrices[phase.product].type}::result<CHUNK>(parts, n, {row} + u)"
                body = bodies.setdefault(width, PairBody())
                body.before.append(f"const float {name} = inside ? {result} : 0.f;")
                if self._is_read_after(name, number):
                    body.before.append(f"{self.register(f'kept_{name}', width)} = {name};")
        return bodies

    def _postpone(self, bodies: Mapping[int, PairBody]) -> dict[int, list[str]]:
        """Let stores that nobody waits for come after what is sent, where there are registers for it."""
        found: dict[int, list[str]] = {}
        for width, body in bodies.items():
            pairs = self.tiling.chunks * self.tiling.pairs(self.plan.class_sizes[width])
            if pairs > _FEW_PAIRS:
                continue
            for name in dict.fromkeys(name for name, _ in body.late):
                held = self.register(f"held_{name}", width)
                body.after.append(f"{held} = {name};")
                found.setdefault(width, []).append(f"const float {name} = {held};")
            found.setdefault(width, []).extend(line for _, line in body.late)
            body.late.clear()
        return {width: lines for width, lines in found.items() if lines}

    def value_class(self, name: str, a: Node) -> int:
        return self.plan.width_class(a)

    @abstractmethod
    def _is_read_after(self, name: str, number: int) -> bool:
        """Is a result of a product read in a later phase than that?"""

    def _print_body(self, number: int, body: PairBody) -> list[str]:
        names = ", ".join(body.values)
        computed = print_statements(body.values, lambda a: self.leaf(a, number)) if body.values else []
        late = [line for _, line in body.late]
        return [*body.before, *([f"float {names};"] if names else []), *computed, *body.after, *late]

    def take_stage(self, stages: list[Stage], width: int, target: str, stride: str) -> Stage:
        """A place for what is sent of a class; ``target`` may name ``token``, ``before`` and ``after``."""
        units, owners = self.units(width), self.tiling.owners(self.plan.class_sizes[width])
        self.polled.append(Load("", width, "u16", f"({target}) + (b - first) * {stride} + u"))
        offset = sum(stage.units for stage in stages) * self.tiling.rows
        stages.append(Stage(units, owners, offset, target, stride))
        self.stage_size = max(getattr(self, "stage_size", 0), (offset + units * self.tiling.rows) * 2)
        return stages[-1]

    # Exchange.

    def _print_product(self, k: int) -> list[str]:
        source, stride, width = self.source(k)
        if self.tiling.cluster:
            pitch, factor = self.pitch(k), f"factor{self.receiver(k)}"
            return [f"U{k}.multiply_shared<CHUNK>(parts, {factor} + c * CHUNK * 8 * {pitch}, {pitch});"]
        rows = f"{source} + c * CHUNK * 8 * {stride}"
        return [f"U{k}.multiply_fresh<CHUNK, {width}>(parts, {rows}, {stride}, count - first - c * CHUNK * 8);"]

    def _print_wait(self, k: int) -> list[str]:
        if not self.tiling.cluster or self.receiver(k) != k:  # what another product has waited for is there
            return []
        rows = self.tiling.rows * self.pitch(k)
        return [
            f"await_bytes(barrier{k} + turn % 2 * 8, turn / 2 % 2);",
            f"if (threadIdx.x == 0) expect_bytes(barrier{k} + turn % 2 * 8, {self._bytes(k)});",
            f"const u16* factor{k} = received{k} + turn % 2 * {rows};",
        ]

    def receiver(self, k: int) -> int:
        """The product for which what product k multiplies is received."""
        return k

    def pitch(self, k: int) -> int:
        """Numbers between two rows of what product k multiplies, where it is received: room for all of them."""
        same = [j for j in range(len(self.matrices)) if self.receiver(j) == self.receiver(k)]
        return max(self.matrices[j].row_pitch for j in same)

    def _bytes(self, k: int) -> int:
        """What the blocks of a group send of a factor at a step."""
        return self.tiling.rows * self.source(k)[2] * 2

    def print_sends(self, stages: list[Stage], turn: str = "turn") -> list[str]:
        """All that is staged; results of one product that are equally wide go together."""
        lines = []
        for _, group in groupby(stages, lambda stage: (stage.product, stage.units, stage.owners)):
            some = [*group]
            stage, parts = some[0], len(some)
            mine = f"if (rank < {stage.owners}) " if stage.owners < self.tiling.blocks else ""
            apart = some[1].column - stage.column if parts > 1 else 0
            shape, staged = f"{stage.units}, {parts}, ROWS", f"stage + {stage.offset}"
            target = f"{stage.target}, {stage.stride}, {apart}"
            lines.append(f"{mine}send_to_memory<{shape}>({staged}, {target}, count - first);")
            k = stage.product
            if self.tiling.cluster and k is not None:
                pitch = self.pitch(k)
                column = (
                    f"(({turn}) % 2 * {self.tiling.rows * pitch} + {stage.column} + rank * {stage.units}) * 2"
                )
                lines.append(
                    f"{mine}send_to_cluster<{shape}, BLOCKS>({staged}, shared_address(received{k}) + {column},"
                    f" {pitch}, {apart}, barrier{k} + ({turn}) % 2 * 8);"
                )
        return lines

    # The whole.

    def print_loads(self, t: str, condition: str, suffix: str = "", but: Container[str] = ()) -> list[str]:
        """Read the numbers of step ``t`` into registers."""
        read = "{0.register}" + suffix + "[c][i] = real ? *({0.address}) : ({0.type})0;"
        wanted = [load for load in self.loads.values() if load.register not in but]
        return self._print_for_loads(read, t, condition, wanted)

    def print_requests(self, t: str, condition: str) -> list[str]:
        """Let the second level cache fetch the numbers of a later step."""
        request = 'asm volatile("prefetch.global.L2 [%0];" ::"l"({0.address}));'
        read = "if (real && u * sizeof({0.type}) % 32 == 0) " + request  # once for each sector
        polled = [] if self.tiling.cluster else self.polled
        return self._print_for_loads(read, t, condition, [*self.loads.values(), *polled])

    def _print_for_loads(self, template: str, t: str, condition: str, loads: Iterable[Load]) -> list[str]:
        by_class: dict[int, list[str]] = {}
        for load in loads:
            by_class.setdefault(load.width, []).append(template.format(load))
        places = f"const int count = count_at({t}), token = token_at({t})"
        places += f", before = before_at({t}), after = rows + token;"
        unused = "(void)before; (void)after;"
        return [f"if ({condition}) {{", *indent([places, unused, *self.print_all_pairs(by_class)]), "}"]

    def _join(self, loop: list[str]) -> str:
        tiling, plan = self.tiling, self.plan
        constants = {
            "BLOCKS": tiling.blocks,
            "ROWS": tiling.rows,
            "CHUNK": tiling.chunk,
            "CHUNKS": tiling.chunks,
        }
        head = [
            f"#define FLOAT16 {int(self.dtype == 'float16')}",
            f"#define CLUSTER {int(tiling.cluster)}",
            f"#define RAGGED {int(self.ragged)}",
            "#define FAST 2",
            HEADER,
            _persistent(),
            f"constexpr int {', '.join(f'{name} = {n}' for name, n in constants.items())};",
            PAIR,
        ]
        setup = self._print_setup()
        pointers = [f"{kind} {name}" for name, kind in sorted(self.arguments.items())]
        numbers = [f"int {name}" for name in ("rows", "steps", "halves", "begin")]
        takes = [*pointers, "const int* sizes", "const int* offsets", *numbers]
        cluster = f"__cluster_dims__({tiling.blocks}, 1, 1) " if tiling.cluster else ""
        opening = (
            f'extern "C" __global__ void {cluster}__launch_bounds__(THREADS, {tiling.resident}) {self.name}('
        )
        place = [
            "extern __shared__ __align__(128) unsigned char shared[];",
            f"const int head = blockIdx.x / BLOCKS % {plan.heads}, rank = blockIdx.x % BLOCKS;",
            f"const int first = begin + blockIdx.x / (BLOCKS * {plan.heads}) * ROWS;",
            "auto count_at = [&](int t) { return RAGGED ? sizes[t] : rows; };",
            "auto token_at = [&](int t) { return RAGGED ? offsets[t] : t * rows; };",
            "auto before_at = [&](int t) { return t ? rows + token_at(t - 1) : 0; };",
        ]
        body = indent([*place, *setup, *loop])
        return "\n".join([*head, f"{opening}{', '.join(takes)}) {{", *body, "}", ""])

    def _print_setup(self) -> list[str]:
        lines = []
        for k, tiles in enumerate(self.matrices):
            matrix = self.argument(f"u_{k}", "const float*")
            at = self.memory.take(tiles.shared_bytes)
            weight = "\n".join(indent(self.weight(k), 2))
            lines.append(
                f"const {tiles.type} U{k}((Vector*)(shared + {at}), [&](int m, int k) {{\n"
                f"    const float* U = {matrix};\n{weight}\n  }});"
            )
        lines += self._print_receivers() if self.tiling.cluster else []
        parts = self.memory.take(max(tiles.parts_bytes(self.tiling) for tiles in self.matrices))
        stage = self.memory.take(getattr(self, "stage_size", 0))
        lines += [f"float* parts = (float*)(shared + {parts});", f"u16* stage = (u16*)(shared + {stage});"]
        for name, (width, kind) in self.registers.items():
            pairs = self.tiling.pairs(self.plan.class_sizes[width])
            lines.append(f"{kind} {name}[CHUNKS][{pairs}];")
        lines.append("__syncthreads();")
        return lines

    def _print_receivers(self) -> list[str]:
        """Shared memory for what other blocks send, twice for each factor, and barriers that count it."""
        barriers = self.memory.take(16 * len(self.matrices), 16)
        lines, arms = [], []
        for k in range(len(self.matrices)):
            if self.receiver(k) != k:
                continue
            size = 2 * self.tiling.rows * self.pitch(k) * 2
            at = self.memory.take(size)
            lines += [
                f"u16* received{k} = (u16*)(shared + {at});",
                f"const u32 barrier{k} = shared_address(shared + {barriers + 16 * k});",
                f"for (int i = threadIdx.x; i < {size // 16}; i += THREADS)",
                f"  ((Vector*)received{k})[i] = no_vector();",
            ]
            arms += [f"begin_barrier(barrier{k} + {8 * i});" for i in (0, 1)]
            arms += [f"expect_bytes(barrier{k} + {8 * i}, {self._bytes(k)});" for i in (0, 1)]
        fence = 'asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");'
        return [
            *lines,
            "if (threadIdx.x == 0) {",
            *indent([*arms, fence]),
            "}",
            "__syncthreads();",
            "sync_cluster();",
        ]

    @property
    def shared_bytes(self) -> int:
        return self.memory.size


_SYNC = {True: ["__syncthreads();"], False: []}


def indent(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["  " * depth + line for line in lines]


@cache
def _persistent() -> str:
    return (Path(__file__).parent / "persistent.cuh").read_text(encoding="utf-8")
