//! All samples by bucket, and the counts of every bucket.

use super::counts::{Counting, PairCounts, Wanted};
use super::keyed::{Buckets, Chunk, Part, SHARES, below};
use super::labels::Labels;
use super::ranks::{Found, Ranks};
use super::score::{Monotone, Score};
use super::table::{MOST_OPEN, Table};
use super::worker::{Sums, Worker};
use crate::{Ctx, Result};

/// The classes of a bucket, in parts.
type Classes<'a, S> = [Vec<Part<'a, S>>; 2];

/// All samples by bucket and class.
pub(super) struct Scattered<'a, S: Score> {
    chunks: Vec<Chunk<'a, S>>,
    counters: &'a mut Vec<Counter<S>>,
    n_buckets: usize,
    tie: bool,
}

impl<'a, S: Score> Scattered<'a, S> {
    /// Scatters all scores; `None` if any is not finite.
    pub(super) fn new(
        labels: &Labels<'_>,
        scores: &'a [S],
        buffers: &'a mut Counting<S>,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Self>> {
        let Counting { rooms, counters } = buffers;
        let buckets = Buckets::fit(scores);
        let chunks = buckets.scatter(labels, scores, rooms, ctx)?;
        Ok(chunks.map(|chunks| Self { chunks, counters, n_buckets: buckets.len, tie: buckets.tie }))
    }

    /// Counts all pairs.
    pub(super) fn count(self, wanted: Wanted, ctx: &Ctx<'_>) -> Result<PairCounts> {
        let counts = self
            .each(|counter, classes, sizes, below| counter.count(&classes, sizes, wanted).above(sizes, below), ctx)?;
        let mut total = PairCounts::default();
        counts.into_iter().for_each(|counts| total.add(counts));
        Ok(total)
    }

    /// For each positive, the lowest first, how many negatives are below it, and how many below it or tied.
    pub(super) fn negatives_below(self, ctx: &Ctx<'_>) -> Result<Vec<[u32; 2]>> {
        let of_bucket = |counter: &mut Counter<S>, classes: Classes<'_, S>, sizes, below: [u64; 2]| {
            counter.negatives_below(&classes, sizes, below[1] as u32)
        };
        Ok(self.each(of_bucket, ctx)?.concat())
    }

    /// Calls `f` with the classes of every bucket in parts, their sizes, and those of the buckets below; what it returns.
    fn each<T: Send>(
        self,
        f: impl Fn(&mut Counter<S>, Classes<'_, S>, [usize; 2], [u64; 2]) -> T + Sync + Send,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<T>> {
        let Self { chunks, counters, n_buckets, tie } = self;
        let below = below(&chunks, n_buckets);
        let share = n_buckets.div_ceil(SHARES * ctx.n_threads());
        counters.resize_with(usize::max(n_buckets.div_ceil(share), counters.len()), Counter::default);
        let shares = (0..n_buckets).step_by(share).zip(counters.iter_mut());
        let found = ctx.map(shares.collect(), |(first, counter)| {
            counter.tie = tie;
            let one = |(bucket, &below): (usize, &[u64; 2])| {
                ctx.check()?;
                let classes = [0, 1].map(|class| chunks.iter().map(|chunk| chunk.part(bucket, class)).collect());
                let sizes = classes.each_ref().map(|parts: &Vec<Part<'_, S>>| parts.iter().map(|p| p.keys.len()).sum());
                Ok(f(counter, classes, sizes, below))
            };
            below.iter().enumerate().skip(first).take(share).map(one).collect::<Result<Vec<T>>>()
        })?;
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
}

/// What a thread needs to count the pairs of a bucket.
#[derive(Debug, Default)]
pub(super) struct Counter<S: Score> {
    keys: Worker<S::Key>,
    scores: Worker<S>,
    gathered: [Vec<S>; 2],
    /// Whether the keys of many are expected to tie in the next bucket.
    tie: bool,
    /// Whether the last bucket was counted by its scores.
    by_scores: bool,
}

impl<S: Score> Counter<S> {
    pub(super) fn bytes(&self) -> usize {
        let gathered = self.gathered.iter().map(Vec::capacity).sum::<usize>();
        self.keys.bytes() + self.scores.bytes() + size_of::<S>() * gathered
    }

    /// Counts the pairs of one bucket.
    fn count(&mut self, classes: &Classes<'_, S>, sizes: [usize; 2], wanted: Wanted) -> PairCounts {
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return PairCounts::default();
        }
        let (found, squares) = self.ask(classes, asking, wanted);
        PairCounts::of_found(asking, sizes, found, squares)
    }

    /// For each positive of a bucket, the lowest first, how many negatives are below it, and below it or tied; `above` of
    /// them are in the buckets below.
    fn negatives_below(&mut self, classes: &Classes<'_, S>, sizes: [usize; 2], above: u32) -> Vec<[u32; 2]> {
        if sizes[0] == 0 || sizes[1] == 0 {
            return vec![[above; 2]; sizes[0]];
        }
        self.count(classes, sizes, Wanted::Squares);
        let ranks = if self.by_scores { &self.scores.ranks } else { &self.keys.ranks };
        let all = |below: [u32; 2]| below.map(|below| below.wrapping_add(above));
        if sizes[0] < sizes[1] { ranks.of_table().map(all).collect() } else { ranks.of_asking().map(all).collect() }
    }

    /// What class `asking` finds in the other, and the squares if they are wanted.
    fn ask(&mut self, classes: &Classes<'_, S>, asking: usize, wanted: Wanted) -> Sums {
        let (own, others) = (&classes[1 - asking], &classes[asking]);
        self.by_scores = false;
        if S::EXACT || !self.tie {
            let crowded = self.keys.fill(own.iter().map(|part| part.keys));
            if S::EXACT {
                return self.keys.ask(crowded, others.iter().map(|part| part.keys), wanted);
            }
            let Worker { table, spread, ranks, .. } = &mut self.keys;
            let by_keys = if crowded {
                Untied { table: spread, own, others }.ask(wanted, ranks)
            } else {
                Untied { table, own, others }.ask(wanted, ranks)
            };
            if let Some(sums) = by_keys {
                return sums;
            }
        }
        // The keys of many tie: they are compared by their scores.
        for (gathered, parts) in self.gathered.iter_mut().zip([own, others]) {
            gathered.clear();
            parts.iter().for_each(|part| gathered.extend(part.scores()));
        }
        let [own, others] = &self.gathered;
        let crowded = self.scores.fill(std::iter::once(&own[..]));
        let sums = self.scores.ask(crowded, std::iter::once(&others[..]), wanted);
        self.by_scores = true;
        self.tie = sums.0.up_to - sums.0.below > MOST_OPEN as u128;
        sums
    }
}

/// A table of the keys of one class, and both classes.
struct Untied<'a, S: Score, M> {
    table: &'a Table<S::Key, M>,
    own: &'a [Part<'a, S>],
    others: &'a [Part<'a, S>],
}

impl<S: Score, M: Monotone<S::Key>> Untied<'_, S, M> {
    /// What the others find in the table; `None` if the keys of many tie. Those of few are compared by their scores.
    fn ask(self, wanted: Wanted, ranks: &mut Ranks) -> Option<Sums> {
        ranks.clear(if wanted == Wanted::Squares { self.table.len() } else { 0 });
        let (keys, mut open) = (self.others.iter().map(|part| part.keys), vec![]);
        let sum = match wanted {
            Wanted::Pairs => self.table.ask_untied(keys, &mut open),
            Wanted::Squares => {
                self.table.ask_untied_ranks(keys, &mut open, ranks);
                0
            }
        };
        if open.len() > MOST_OPEN {
            return None;
        }
        let mut found = Found { below: sum, up_to: sum };
        for place in open {
            let rank = self.rank(place);
            match wanted {
                Wanted::Pairs => found.add(Found { below: rank[0].into(), up_to: rank[1].into() }),
                Wanted::Squares => ranks.count(rank),
            }
        }
        Some(if wanted == Wanted::Squares { ranks.sums() } else { (found, [0; 2]) })
    }

    /// How many of the table are below the score that asks at a place, whose key some of them have, and how many below or
    /// equal.
    fn rank(&self, mut place: usize) -> [u32; 2] {
        let mut others = self.others.iter();
        let asks = others.find(|part| {
            let found = place < part.keys.len();
            place -= if found { 0 } else { part.keys.len() };
            found
        });
        let Some((key, score)) = asks.map(|part| (part.keys[place], part.score(place))) else { return [0; 2] };
        let [start, _] = self.table.rank_of(key);
        let mut rank = [start; 2];
        for part in self.own {
            for place in (0..part.keys.len()).filter(|&place| part.keys[place] == key) {
                let other = part.score(place);
                rank[0] += u32::from(other < score);
                rank[1] += u32::from(other <= score);
            }
        }
        rank
    }
}
