//! Measures that read the scores themselves and not only their order: the scored AUC and the margin AUC
//! (Wu, Flach and Ferri, 2007).

use super::curve::Curve;
use super::sum::Sum;

impl Curve {
    /// The weighted mean over pairs of `max(0, s - t)`. Ties contribute 0.
    pub fn scored_auc(&self) -> f64 {
        // Between two neighbouring scores every pair that straddles them gains their distance: no cancellation.
        let (mut above, mut below) = (0.0, self.neg);
        let mut total = Sum::default();
        for pair in self.steps.windows(2) {
            above += pair[0].pos;
            below = f64::max(below - pair[0].neg, 0.0);
            total.add((above / self.pos) * (below / self.neg) * (pair[0].score - pair[1].score));
        }
        total.value()
    }

    /// The weighted mean over pairs of `1[s - t > margin]`; the difference is that of floating-point arithmetic.
    pub fn margin_auc(&self, margin: f64) -> f64 {
        // For descending s, the highest t that s beats descends too.
        let mut next = 0;
        let mut not_beaten = 0.0;
        let mut won = Sum::default();
        for step in self.steps.iter().filter(|s| s.pos > 0.0) {
            while next < self.steps.len() && step.score - self.steps[next].score <= margin {
                not_beaten += self.steps[next].neg;
                next += 1;
            }
            won.add(step.pos * f64::max(self.neg - not_beaten, 0.0));
        }
        won.value() / (self.pos * self.neg)
    }
}
