//! From scores to the sums over their pairs, in memory that is kept from call to call.

use crate::order::cells::Cells;
use crate::order::sorted::Sorted;
use crate::risk::ends::Ends;
use crate::risk::pairs::Pairs;
use crate::risk::surrogate::Sums;
use crate::risk::weights::{Each, Unit};
use crate::{Ctx, Problem, Result, Scores};

/// Buffers for repeated calls on one problem.
#[derive(Debug, Default)]
pub struct Workspace {
    cells: Cells,
    sorted: Sorted,
    pos: Vec<f64>,
}

impl Workspace {
    /// The result of `sum` on the pairs at `scores`, with its derivatives in `coef`.
    pub(super) fn sum<T>(
        &mut self,
        (problem, ends): (&Problem, &Ends),
        scores: Scores<'_>,
        coef: &mut [f64],
        sum: impl FnOnce(&mut dyn Sums) -> Result<T>,
        ctx: &Ctx<'_>,
    ) -> Result<T> {
        let Self { cells, sorted, pos } = self;
        cells.gather(problem, scores, &ends.tops, &mut sorted.map, ctx)?;
        sorted.build(&cells.positives(), ctx)?;
        cells.clear(coef, ctx)?;
        pos.clear();
        pos.resize(sorted.scores().len(), 0.0);
        let Some(samples) = problem.sample_weight() else {
            return Pairs { cells, sorted, ends, weights: Unit, neg: coef, pos }.sum(sum, ctx);
        };
        let mut pairs = Pairs { cells, sorted, ends, weights: Each { samples, below: &[] }, neg: coef, pos };
        let below = pairs.below(ctx)?;
        Pairs { weights: Each { samples, below: &below }, ..pairs }.sum(sum, ctx)
    }
}
