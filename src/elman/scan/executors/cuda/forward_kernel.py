"""The forward kernel: from the projected input and s_0 to all outputs, and what the way back reads."""

from __future__ import annotations

from collections.abc import Mapping

from elman.formula import Node
from elman.formula.symbols import is_input
from elman.formula.traversal import topological
from elman.scan.executors.cuda.kernel_printer import AHEAD, KernelPrinter, PairBody, Stage, indent
from elman.scan.executors.cuda.schedule import Phase, plan_phases


class ForwardKernel(KernelPrinter):
    """Products of old states come first in a step; what they multiply was sent at the end of the one before."""

    name = "forward"

    def shape(self, k: int) -> tuple[int, int]:
        height = sum(self.tiling.units(self.plan.size[name]) for name in self.plan.names(k))
        return height, self.tiling.padded(self.plan.operand_size(k))

    def plan_phases(self) -> list[Phase]:
        trace, states = self.plan.values.trace, self.plan.operand_states
        factors = [{} if k in states else {f"v_{k}": p.operand} for k, p in enumerate(trace.products)]
        new = {f"new_{name}": a for name, a in trace.new.items()}
        stored = {f"e_{i}": a for i, a in enumerate(self.plan.values.stored)}
        product = {n: k for k, p in enumerate(trace.products) for n in p.names}
        find = lambda a: product[a.args[1]] if is_input(a, "r") else None  # noqa: E731
        return plan_phases(factors, {}, {**stored, **new}, find, self.plan.first_products)

    def value_class(self, name: str, a: Node) -> int:
        if name.startswith("new_"):
            return self.plan.values.classes[name.removeprefix("new_")]
        return super().value_class(name, a)

    def results(self, k: int) -> dict[str, tuple[int, int]]:
        found, row = {}, 0
        for name in self.plan.names(k):
            found[f"r_{name}"] = (self.plan.values.classes[name], row)
            row += self.tiling.units(self.plan.size[name])
        return found

    def weight(self, k: int) -> list[str]:
        depth, row, first, lines = self.plan.operand_size(k), 0, 0, []
        whole = sum(self.plan.size[name] for name in self.plan.names(k)) * depth
        for name in self.plan.names(k):
            units, size = self.tiling.units(self.plan.size[name]), self.plan.size[name]
            lines += [
                f"if (m < {row + units}) {{",
                f"  const int j = rank * {units} + m - {row};",
                f"  const float* row = U + (u64)head * {whole} + (u64)({first} + j) * {depth};",
                f"  return Weights{{row + k, 1, j < {size} ? {depth} - k : 0}};",
                "}",
            ]
            row, first = row + units, first + size
        return [*lines, "return Weights{U, 0, 0};"]

    def source(self, k: int) -> tuple[str, str, int]:
        padded = self.tiling.padded(self.plan.operand_size(k))
        stride = padded * self.plan.heads
        if k in self.plan.operand_states:
            buffer, row = self.argument(f"h_{self.plan.operand_states[k]}", "u16*"), "before"
        else:
            buffer, row = self.argument(f"v_{self.plan.first_products[k]}_out", "u16*"), "token"
        return f"{buffer} + (u64)({row} + first) * {stride} + head * {padded}", str(stride), padded

    def receiver(self, k: int) -> int:
        return self.plan.first_products[k]

    def leaf(self, a: Node, phase: int) -> str:
        kind, name = a.args
        if kind == "r":
            product = self.phases[phase].product
            fresh = product is not None and name in self.plan.names(product)
            width = self.plan.values.classes[name]
            return f"r_{name}" if fresh else self.register(f"kept_r_{name}", width)
        if kind == "s":
            return self.state(name)
        return {"x": self.input, "p": self.parameter, "m": self.mask}[kind](name)

    def state(self, name: str) -> str:
        return self.register(f"s_{name}", self.plan.values.classes[name])

    def _is_read_after(self, name: str, number: int) -> bool:
        later = [a for phase in self.phases[number + 1 :] for a in phase.values.values()]
        return any(is_input(a, "r") and f"r_{a.args[1]}" == name for a in topological(later))

    def finish(self, phase: Phase, bodies: Mapping[int, PairBody]) -> list[Stage]:
        stages: list[Stage] = []
        for k in phase.sends:
            width = self.plan.width_class(self.plan.values.trace.products[k].operand)
            target, stride, _ = self.source(k)
            stage = self.take_stage(stages, width, f"{target} + rank * {self.units(width)}", stride)
            stage.product = k
            bodies[width].after.append(stage.put(f"v_{k}"))
        if phase is self.phases[-1]:
            for i, a in enumerate(self.plan.values.stored):
                bodies[self.plan.width_class(a)].late.append((f"e_{i}", self._store(i, a)))
            self.state_stages = self._stage_states(stages, bodies)
        return stages

    def _store(self, i: int, a: Node) -> str:
        kept = self.argument("kept", "float*")
        address = self.place(kept, "token", self.plan.stored_width, self.plan.stored_columns[a])
        return f"if (real && {kept}) *({address}) = e_{i};"

    def _stage_states(self, stages: list[Stage], bodies: Mapping[int, PairBody]) -> list[Stage]:
        """New states to registers, to memory where somebody reads them, and among what is sent."""
        found = []
        for name in self.plan.formula.states:
            width = self.plan.values.classes[name]
            after, late = bodies[width].after, bodies[width].late
            total = self.plan.class_sizes[width] * self.plan.heads
            end = f"{self.argument(f'end_{name}', 'u16*')}[(u64)b * {total} + unit]"
            late.append((f"new_{name}", f"if (real && b >= following) {end} = to_half(new_{name});"))
            if name in self.plan.float_states:
                kept = self.argument(f"s_{name}_out", "float*")
                store = f"if (real && {kept}) *({self.place(kept, 'after', total)}) = new_{name};"
                late.append((f"new_{name}", store))
            if name in self.plan.sent_states:
                found.append(self._stage_state(stages, name, "after"))
                after.append(found[-1].put(f"new_{name}"))
            after.append(f"if (real) {self.state(name)} = new_{name};")
        return found

    def _stage_state(self, stages: list[Stage], name: str, row: str) -> Stage:
        width = self.plan.values.classes[name]
        padded = self.tiling.padded(self.plan.class_sizes[width])
        stride = padded * self.plan.heads
        buffer = self.argument(f"h_{name}", "u16*")
        target = f"{buffer} + (u64)({row} + first) * {stride} + head * {padded} + rank * {self.units(width)}"
        stage = self.take_stage(stages, width, target, str(stride))
        products = [k for k, state in self.plan.operand_states.items() if state == name]
        stage.product = products[0] if products else None
        return stage

    def print_loop(self, phases: list[list[str]]) -> list[str]:
        step = [
            "const int count = count_at(t), token = token_at(t), before = before_at(t), after = rows + token;",
            "if (first >= count) break;",
            "const int following = t + 1 < steps ? count_at(t + 1) : 0, turn = t;",
            "(void)before; (void)after; (void)turn;",
            *(line for phase in phases for line in phase),
            *self.print_loads("t + 1", "t + 1 < steps"),
            *self.print_requests(f"t + {AHEAD}", f"t + {AHEAD} < steps"),
        ]
        return [
            *self._print_begin(),
            *self.print_loads("0", "steps > 0"),
            "for (int t = 0; t < steps; t++) {",
            *indent(step),
            "}",
            *(["sync_cluster();"] if self.tiling.cluster else []),
        ]

    def _print_begin(self) -> list[str]:
        """States and parameters to registers; what the first step multiplies is sent."""
        stages: list[Stage] = []
        bodies: dict[int, list[str]] = {}
        for name in self.plan.formula.states:
            width = self.plan.values.classes[name]
            total = self.plan.class_sizes[width] * self.plan.heads
            begin = self.argument(f"s_{name}_in", "const void*")  # in the precision it came in
            value = f"read_number({begin}, (u64)b * {total} + unit, halves)"
            lines = bodies.setdefault(width, [])
            lines.append(f"{self.state(name)} = real ? {value} : 0.f;")
            if name in self.plan.float_states:
                kept = self.argument(f"s_{name}_out", "float*")
                lines.append(f"if (real && {kept}) {kept}[(u64)b * {total} + unit] = {self.state(name)};")
            if name in self.plan.sent_states:
                lines.append(self._stage_state(stages, name, "before").put(self.state(name)))
                self.polled.pop()  # it is sent once, before the first step
        for name in self.plan.formula.parameters:
            width = self.plan.values.classes[self.plan.formula.gates[0]]
            value = self.parameter(name)
            bodies.setdefault(width, []).append(f"{value} = real ? p_{name}[unit] : 0.f;")
        body = [
            "const int count = rows, before = 0;",
            *self.print_all_pairs(bodies),
            "__syncthreads();",
            *super().print_sends(stages, "0"),
        ]
        return ["if (steps > 0 && first < count_at(0)) {", *indent(body), "}"]

    def print_sends(self, stages: list[Stage], turn: str = "turn") -> list[str]:
        """A state that the next step multiplies goes to the cluster for the next turn, if there is one."""
        states = getattr(self, "state_stages", [])
        now = [stage for stage in stages if stage not in states]
        lines = super().print_sends(now, turn)
        for stage in states if stages else []:
            memory, *cluster = super().print_sends([stage], "turn + 1")
            lines += [memory, *(f"if (first < following) {line}" for line in cluster)]
        return lines
