"""Calls that numba lacks: machine code by its address, and prefetching.

A system's own code (see `specs.lowering.native_code`) is called by address, so that the loops do
not depend on the system and their compiled form can be cached on disk until they change.
"""

# numba types these functions by what they are given.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _caller(shape):
    """A call of a function by its address; by argument, `*` for an address, `n` for a number."""

    @intrinsic
    def call(typingctx, address, given):
        signature = types.int64(types.int64, types.UniTuple(types.int64, len(shape)))

        def generate(context, builder, signature, arguments):
            i64 = ir.IntType(64)
            kinds = [ir.PointerType(i64) if one == "*" else i64 for one in shape]
            pointer = ir.PointerType(ir.FunctionType(i64, kinds))
            parts = []
            for n, kind in enumerate(kinds):
                part = builder.extract_value(arguments[1], n)
                parts.append(part if kind is i64 else builder.inttoptr(part, kind))
            return builder.call(builder.inttoptr(arguments[0], pointer), parts)

        return signature, generate

    return call


call_expand = _caller("*nn*n***")
call_judge = _caller("**")
call_judge_step = _caller("**")
call_possible = _caller("**")
call_canonical = _caller("*n")


@intrinsic
def prefetch(typingctx, address):
    """Prefetches the cache line of an address; has no other effect."""

    def generate(context, builder, signature, arguments):
        i32, pointer = ir.IntType(32), ir.PointerType(ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [pointer, i32, i32, i32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        where = builder.inttoptr(arguments[0], pointer)
        builder.call(function, [where, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate
