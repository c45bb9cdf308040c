//! Early recognition: how early the positives come in the ranking of all samples, of which few will be examined.
//!
//! The samples, by descending score, are laid side by side on [0, 1], each as wide as its share of the weight. All
//! orders of a tie are equally likely, so that its positives are spread evenly over its place.

use crate::curve::empirical::Curve;
use crate::curve::sum::Sum;

/// A block of ties: its ends, as shares of all samples, and its share of positives.
struct Block {
    from: f64,
    to: f64,
    positive: f64,
}

impl Block {
    fn width(&self) -> f64 {
        self.to - self.from
    }
}

/// A measure of early recognition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Screening {
    /// The share of the positives found in the first samples, divided by the share of samples, which is given.
    Enrichment(f64),
    /// The mean of `exp(-alpha x)` over the positives, divided by the mean over all samples (Sheridan et al., 2001).
    Rie(f64),
    /// RIE, mapped to [0, 1] (Truchon and Bayly, 2007).
    Bedroc(f64),
}

impl Screening {
    /// The value on a curve. O(number of distinct scores).
    pub(crate) fn of(self, curve: &Curve) -> f64 {
        let share = curve.pos() / (curve.pos() + curve.neg());
        match self {
            Screening::Enrichment(fraction) => {
                let inside = blocks(curve).map(|b| b.positive * f64::max(f64::min(b.to, fraction) - b.from, 0.0));
                f64::min(inside.collect::<Sum>().value() / share, 1.0) / fraction
            }
            Screening::Rie(alpha) => early(curve, alpha) / share / -(-alpha).exp_m1(),
            Screening::Bedroc(alpha) => {
                let (least, most) = (fall(1.0 - share, 1.0, alpha), fall(0.0, share, alpha));
                ((early(curve, alpha) - least) / (most - least)).clamp(0.0, 1.0)
            }
        }
    }
}

fn blocks(curve: &Curve) -> impl Iterator<Item = Block> {
    let total = curve.pos() + curve.neg();
    curve.walk().map(move |placed| {
        let [from, to] = [placed.above, placed.up_to].map(|[pos, neg]| (pos + neg) / total);
        let step = placed.step;
        Block { from, to, positive: step.pos / (step.pos + step.neg) }
    })
}

/// `exp(-alpha from) - exp(-alpha to)`.
fn fall(from: f64, to: f64, alpha: f64) -> f64 {
    (-alpha * from).exp() * -(-alpha * (to - from)).exp_m1()
}

/// The integral of `alpha exp(-alpha x)` over the places of the positives.
fn early(curve: &Curve, alpha: f64) -> f64 {
    blocks(curve).filter(|b| b.width() > 0.0).map(|b| b.positive * fall(b.from, b.to, alpha)).collect::<Sum>().value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::data::Labels;
    use crate::testing::uniform;

    fn curve(labels: &[bool], scores: &[f64]) -> Curve {
        Curve::new(&Labels::new(labels).unwrap(), scores, None, &Ctx::serial()).unwrap()
    }

    /// Truchon and Bayly, 2007, equations 18 and 36, of labels in the order of a ranking without ties.
    fn published(ranked: &[bool], alpha: f64) -> [f64; 2] {
        let (total, n) = (ranked.len() as f64, ranked.iter().filter(|&&p| p).count() as f64);
        let ranks = ranked.iter().zip(1..).filter(|(p, _)| **p).map(|(_, r)| f64::from(r));
        let sum: f64 = ranks.map(|r| (-alpha * r / total).exp()).sum();
        let rie = sum / n / ((1.0 - (-alpha).exp()) / ((alpha / total).exp() - 1.0) / total);
        let share = n / total;
        let factor = share * (alpha / 2.0).sinh() / ((alpha / 2.0).cosh() - (alpha / 2.0 - alpha * share).cosh());
        [rie, rie * factor + 1.0 / (1.0 - (alpha * (1.0 - share)).exp())]
    }

    #[test]
    fn a_ranking_has_the_published_values() {
        let mut next = uniform(2);
        for n in [2, 5, 40, 300] {
            let ranked: Vec<bool> = (0..n).map(|i| if i < 2 { i == 1 } else { next() < 0.3 }).collect();
            let scores: Vec<f64> = (0..n).map(|i| -f64::from(i)).collect();
            for alpha in [0.1, 1.0, 20.0, 160.9] {
                let [rie, bedroc] = published(&ranked, alpha);
                let found = [Screening::Rie(alpha), Screening::Bedroc(alpha)].map(|s| s.of(&curve(&ranked, &scores)));
                assert!((found[0] - rie).abs() < 1e-10 * rie.abs() && (found[1] - bedroc).abs() < 1e-9, "{found:?}");
            }
            let half = ranked[..n as usize / 2].iter().filter(|&&p| p).count() as f64;
            let positives = ranked.iter().filter(|&&p| p).count() as f64;
            if n % 2 == 0 {
                let found = Screening::Enrichment(0.5).of(&curve(&ranked, &scores));
                assert!((found - half / positives / 0.5).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn ties_have_the_mean_of_all_orders() {
        // All orders of four that tie, behind one and before one.
        let labels = [false, true, false, false, true, true];
        let scores = [2.0, 1.0, 1.0, 1.0, 1.0, 0.0];
        for measure in
            [Screening::Enrichment(0.5), Screening::Enrichment(0.4), Screening::Rie(5.0), Screening::Bedroc(5.0)]
        {
            let (mut sum, mut count) = (0.0, 0);
            for order in 0..24 {
                let mut left = vec![1.1, 1.2, 1.3, 1.4];
                let mut apart = scores;
                let mut code = order;
                for (k, score) in apart[1..5].iter_mut().enumerate() {
                    *score = left.remove(code % (4 - k));
                    code /= 4 - k;
                }
                sum += measure.of(&curve(&labels, &apart));
                count += 1;
            }
            assert!((sum / f64::from(count) - measure.of(&curve(&labels, &scores))).abs() < 1e-12, "{measure:?}");
        }
    }
}
