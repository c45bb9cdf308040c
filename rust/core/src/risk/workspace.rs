//! From scores to the sums over their pairs: which negatives a risk looks at, and where they are gathered.

use crate::order::cells::Cells;
use crate::order::sorted::Sorted;
use crate::risk::pairs::Pairs;
use crate::risk::weights::{Each, Unit};
use crate::risk::{Hinge, Rank, Sums};
use crate::{Ctx, Problem, RateRange, Result, Scores};

/// Beyond the highest negatives that a smoothed hinge sums over, half as many more are looked at, and a few.
const FEW: f64 = 32.0;

/// The ranks that a risk distinguishes: numbers of negatives, or what these weigh.
#[derive(Debug)]
pub(super) struct Ends {
    /// What each [`Rank`] stands for.
    pub(super) ranks: [f64; 4],
    /// Those up to the last that is looked at, ascending and distinct: the negatives are grouped between them.
    tops: Vec<f64>,
    /// What one negative weighs, on average.
    each: f64,
    /// What the pairs of the range weigh.
    pub(super) pairs: f64,
}

impl Ends {
    /// Groups that end at the ranks up to `last`, and where those do that smoothed `hinges` look at.
    pub(super) fn new(problem: &Problem, range: RateRange, last: Rank, hinges: &[Hinge]) -> Self {
        let ((pos, neg), (low, high)) = (problem.totals(), problem.ranks(range));
        let (ranks, each) = ([0.0, low, high, neg], neg / problem.n_neg() as f64);
        let mut ends = Self { ranks, tops: Vec::new(), each, pairs: pos * (high - low) };
        let reaches = hinges.iter().map(|hinge| ends.reach(hinge.top));
        let tops = ranks[1..=last as usize].iter().copied().chain(reaches).filter(|&top| top > 0.0);
        ends.tops = tops.collect();
        ends.tops.sort_unstable_by(f64::total_cmp);
        ends.tops.dedup();
        ends
    }

    /// How far to look for the negatives that may have a share among the `top` highest.
    pub(super) fn reach(&self, top: f64) -> f64 {
        f64::min(self.bottom(), top + (top / 2.0).floor() + FEW * self.each)
    }

    /// What all negatives weigh.
    pub(super) fn bottom(&self) -> f64 {
        self.ranks[Rank::Bottom as usize]
    }
}

/// Buffers kept from call to call, so that repeated calls on one problem allocate little.
#[derive(Debug, Default)]
pub struct Workspace {
    cells: Cells,
    sorted: Sorted,
    pos: Vec<f64>,
}

impl Workspace {
    /// What `sum` makes of the pairs at `scores`, and the derivatives that it found, in `coef`.
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
