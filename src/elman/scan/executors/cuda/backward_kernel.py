"""The backward kernel: the derived gradients, from what the forward kernel kept."""

from __future__ import annotations

from collections.abc import Mapping

from elman.formula import Node
from elman.formula.symbols import constant, is_input
from elman.formula.traversal import topological
from elman.scan.executors.cuda.kernel_printer import AHEAD, KernelPrinter, PairBody, Stage, indent
from elman.scan.executors.cuda.schedule import Phase, plan_phases


class BackwardKernel(KernelPrinter):
    """Gradients of products' results are sent, and multiplied by the transposed matrices."""

    name = "backward"

    def shape(self, k: int) -> tuple[int, int]:
        return self.tiling.units(self.plan.operand_size(k)), self.plan.padded_width(k)

    def plan_phases(self) -> list[Phase]:
        found, values, read = self.plan.values.derivative, self.plan.values, self.plan.read_back
        self.classes: dict[str, int] = {}

        def name_values(kind: str, gradients: Mapping[str, Node], width: Mapping[str, int]) -> dict[str, Node]:
            for name in width:
                self.classes[f"{kind}_{name}"] = width[name]
            return {f"{kind}_{name}": read(gradients.get(name, constant(0))) for name in width}

        classes, formula = values.classes, self.plan.formula
        products = values.trace.products
        factors = [name_values("dr", found.r, {n: classes[n] for n in p.names}) for p in products]
        gates = () if self.plan.shared_gates else formula.gates
        inputs = name_values("dx", found.x, {n: classes[n] for n in gates})
        units = name_values("dp", found.p, dict.fromkeys(formula.parameters, classes[formula.gates[0]]))
        states = name_values("ds", found.s, {n: classes[n] for n in formula.states})
        find = lambda a: int(a.args[1]) if is_input(a, "q") else None  # noqa: E731
        return plan_phases(factors, {**inputs, **units}, states, find)

    def value_class(self, name: str, a: Node) -> int:
        return self.classes[name]

    def results(self, k: int) -> dict[str, tuple[int, int]]:
        return {f"q_{k}": (self.plan.width_class(self.plan.values.trace.products[k].operand), 0)}

    def weight(self, k: int) -> list[str]:
        depth, first, lines = self.plan.operand_size(k), 0, []
        units = self.tiling.units(depth)
        whole = sum(self.plan.size[name] for name in self.plan.names(k)) * depth
        for name, column in self.plan.padded_columns[k].items():
            size = self.plan.size[name]
            lines += [
                f"if (k < {column + self.tiling.padded(size)}) {{",
                f"  const float* row = U + (u64)head * {whole} + (u64)({first} + k - {column}) * {depth};",
                f"  return Weights{{row + j, {depth}, {column + size} - k}};",
                "}",
            ]
            first += size
        nothing = "return Weights{U, 0, 0};"
        outside = f"const int j = rank * {units} + m;", f"if (m >= {units} || j >= {depth}) {nothing}"
        return [*outside, *lines, nothing]

    def source(self, k: int) -> tuple[str, str, int]:
        width = self.plan.padded_width(k)
        buffer = self.argument(f"dr_{k}_out", "u16*")
        stride = width * self.plan.heads
        return f"{buffer} + (u64)(token + first) * {stride} + head * {width}", str(stride), width

    def leaf(self, a: Node, phase: int) -> str:
        kind, name = a.args
        if kind == "q":
            fresh = self.phases[phase].product == int(name)
            width = self.results(int(name))[f"q_{name}"][0]
            return f"q_{name}" if fresh else self.register(f"kept_q_{name}", width)
        readers = {"x": self.input, "p": self.parameter, "m": self.mask, "d": self._gradient}
        readers |= {"e": self._stored, "v": self._operand, "s": self._old, "n": self._new}
        return readers[kind](name)

    def _gradient(self, name: str) -> str:
        """Of a new state: from the step after, and from the output."""
        width = self.plan.values.classes[name]
        carried = self.register(f"g_{name}", width)
        if name != self.plan.formula.output:
            return carried
        total = self.plan.class_sizes[width] * self.plan.heads
        address = self.place(self.argument("dy", "const u16*"), "token", total)
        return f"({carried} + {self.load('dy_now', width, address, 'u16')})"

    def _stored(self, name: str) -> str:
        a = self.plan.values.stored[int(name)]
        kept = self.argument("kept", "const float*")
        address = self.place(kept, "token", self.plan.stored_width, self.plan.stored_columns[a])
        return self.load(f"e_{name}", self.plan.width_class(a), address, "float")

    def _operand(self, name: str) -> str:
        a = self.plan.values.operands[int(name)]
        k, width = self.plan.operand_products[int(name)], self.plan.width_class(a)
        return self._padded(f"v_{name}", f"v_{k}_in", width, "token")

    def _old(self, name: str) -> str:
        return self._read_state(name, "old", "before")

    def _new(self, name: str) -> str:
        return self._read_state(name, "new", "after")

    def _read_state(self, name: str, age: str, row: str) -> str:
        width = self.plan.values.classes[name]
        if name not in self.plan.float_states:
            return self._padded(f"{age}_{name}", f"h_{name}", width, row)
        total = self.plan.class_sizes[width] * self.plan.heads
        kept = self.argument(f"s_{name}_kept", "const float*")
        return self.load(f"{age}_{name}", width, self.place(kept, row, total), "float")

    def _padded(self, register: str, buffer: str, width: int, row: str) -> str:
        """A number that the forward kernel sent: its rows may be wider than they need be, by another tiling."""
        stride = self.argument(f"{buffer}_pitch", "int")
        pointer = self.argument(buffer, "const u16*")
        heads = self.plan.heads
        address = f"({pointer} + (u64)({row}) * {heads} * {stride}) + ((b * {heads} + head) * {stride} + j)"
        return self.load(register, width, address, "u16")

    def _is_read_after(self, name: str, number: int) -> bool:
        later = [a for phase in self.phases[number + 1 :] for a in phase.values.values()]
        return any(is_input(a, "q") and f"q_{a.args[1]}" == name for a in topological(later))

    def finish(self, phase: Phase, bodies: Mapping[int, PairBody]) -> list[Stage]:
        stages: list[Stage] = []
        for k in phase.sends:
            target, stride, _ = self.source(k)
            for name, column in self.plan.padded_columns[k].items():
                width = self.classes[f"dr_{name}"]
                there = f"{target} + {column} + rank * {self.units(width)}"
                stage = self.take_stage(stages, width, there, stride)
                stage.product, stage.column = k, column
                bodies[width].after.append(stage.put(f"dr_{name}"))
        summed = "dr" if self.plan.shared_gates else "dx"  # over all tokens: the gradients of the biases
        for name in phase.values:
            kind, _, own = name.partition("_")
            after = bodies[self.classes[name]].after
            if kind == summed and self.plan.bias:
                after.append(f"if (real) {self.register(f'bias_{own}', self.classes[name])} += {name};")
            if kind == "dx":
                dx = self.argument("dx", "u16*")
                address = self.place(dx, "token", self.input_width, self.gate_column(own))
                late = bodies[self.classes[name]].late
                late.append((name, f"if (real) *({address}) = to_half({name});"))
            elif kind == "dp":
                after.append(f"if (real) {self.register(f'sum_{own}', self.classes[name])} += {name};")
            elif kind == "ds":
                after.append(f"if (real) {self.register(f'g_{own}', self.classes[name])} = {name};")
        return stages

    def print_loop(self, phases: list[list[str]]) -> list[str]:
        """The numbers of the next step are asked for while this one waits for its factors."""
        first, *others = phases
        moves: dict[int, list[str]] = {}
        inherited = self._find_inherited()
        for load in self.loads.values():
            if load.register in inherited:
                move = f"{load.register}[c][i] = {inherited[load.register]}[c][i];"
                moves.setdefault(load.width, []).insert(0, move)
                continue
            self.register(f"{load.register}_next", load.width, load.type)
            move = f"{load.register}[c][i] = {load.register}_next[c][i];"
            moves.setdefault(load.width, []).append(move)
        step = [
            "const int count = count_at(t), token = token_at(t);",
            *first,
            *self.print_loads("t - 1", "t > 0", "_next", but=inherited),
            *(line for phase in others for line in phase),
            *self.print_requests(f"t - {AHEAD}", f"t >= {AHEAD}"),
            *self.print_all_pairs(moves),
        ]
        return [
            *self._print_begin(),
            "int t = steps - 1;",
            "while (t >= 0 && first >= count_at(t)) t--;",
            *self.print_loads("t", "t >= 0"),
            "for (int turn = 0; t >= 0; t--, turn++) {",
            *indent(step),
            "}",
            *(["sync_cluster();"] if self.tiling.cluster else []),
            *self._print_end(),
        ]

    def _find_inherited(self) -> dict[str, str]:
        """New states of the step before this one that are the old ones of this step, for all rows at once."""
        pairs = {f"new_{name}": f"old_{name}" for name in self.plan.formula.states}
        known = {new: old for new, old in pairs.items() if new in self.loads and old in self.loads}
        return {} if self.ragged else known

    def _print_begin(self) -> list[str]:
        bodies: dict[int, list[str]] = {}
        for name in self.plan.formula.states:
            width = self.plan.values.classes[name]
            total = self.plan.class_sizes[width] * self.plan.heads
            end = self.argument(f"ds_{name}_in", "const u16*")
            value = f"to_float({end}[(u64)b * {total} + unit])"
            line = f"{self.register(f'g_{name}', width)} = real && {end} ? {value} : 0.f;"
            bodies.setdefault(width, []).append(line)
        for gate in self.plan.formula.gates if self.plan.bias else ():
            width = self.plan.values.classes[gate]
            bodies.setdefault(width, []).append(f"{self.register(f'bias_{gate}', width)} = 0.f;")
        width = self.plan.values.classes[self.plan.formula.gates[0]]
        for name in self.plan.formula.parameters:
            body = bodies.setdefault(width, [])
            body.append(f"{self.register(f'sum_{name}', width)} = 0.f;")
            if f"unit_{name}" in self.registers:
                body.append(f"{self.parameter(name)} = real ? p_{name}[unit] : 0.f;")
        return ["{", *indent(["const int count = rows;", *self.print_all_pairs(bodies)]), "}"]

    def _print_end(self) -> list[str]:
        bodies: dict[int, list[str]] = {}
        for name in self.plan.formula.states:
            width = self.plan.values.classes[name]
            total = self.plan.class_sizes[width] * self.plan.heads
            begin = f"{self.argument(f'ds_{name}_out', 'float*')}[(u64)b * {total} + unit]"
            bodies.setdefault(width, []).append(f"if (real) {begin} = g_{name}[c][i];")
        for gate in self.plan.formula.gates if self.plan.bias else ():
            width, out = self.plan.values.classes[gate], self.argument("db_out", "float*")
            place = f"(u64)b * {self.input_width} + {self.gate_column(gate)} + unit"
            bodies.setdefault(width, []).append(f"if (real) {out}[{place}] = bias_{gate}[c][i];")
        width = self.plan.values.classes[self.plan.formula.gates[0]]
        for name in self.plan.formula.parameters:
            total = self.plan.class_sizes[width] * self.plan.heads
            out = f"{self.argument(f'dp_{name}_out', 'float*')}[(u64)b * {total} + unit]"
            bodies.setdefault(width, []).append(f"if (real) {out} = sum_{name}[c][i];")
        return ["{", *indent(["const int count = rows;", *self.print_all_pairs(bodies)]), "}"]
