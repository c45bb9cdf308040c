use super::*;

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 2e-14 * expected.abs(), "{found:e} {expected:e}");
}

#[test]
fn normal_quantiles_are_the_inverse() {
    for (p, x) in [(0.975, 1.959963984540054), (0.025, -1.959963984540054), (1e-10, -6.361340902404056), (0.5, 0.0)] {
        assert!((normal_quantile(p) - x).abs() < 4e-15, "{p}");
    }
    for k in -600..=160 {
        let x = f64::from(k) / 20.0;
        assert!(
            (normal_quantile(normal_below(x)) - x).abs() < 2e-15 * (1.0 + x.abs()) / normal_density(x.max(0.0)),
            "{x}"
        );
    }
    assert_eq!([0.0, 1.0].map(normal_quantile), [f64::NEG_INFINITY, f64::INFINITY]);
    assert!(normal_quantile(f64::from_bits(1)).is_finite());
}

#[test]
fn quantiles_of_one_and_two_degrees_have_closed_forms() {
    for k in 1..=160 {
        let z = f64::from(k) / 20.0;
        let p = normal_below(-z);
        close(student_reach(1.0, z), 1.0 / (PI * p).tan());
        close(student_reach(2.0, z), (1.0 - 2.0 * p) / (2.0 * p * (1.0 - p)).sqrt());
    }
    assert_eq!(student_reach(3.0, 0.0), 0.0);
}

#[test]
fn quantiles_pass_to_those_of_the_normal_distribution() {
    for z in [0.1, 1.0, 1.96, 3.0, 5.0, 8.0] {
        close(student_reach(f64::INFINITY, z), z);
        // On both sides of the change of formulas, and apart by less than the degrees are.
        let (below, above) = (student_reach(MANY * (1.0 - 1e-13), z), student_reach(MANY, z));
        assert!((below - above).abs() < 3e-14 * above, "{z}: {below} {above}");
        let mut last = f64::INFINITY;
        for df in [0.01, 0.02, 0.3, 1.0, 1.5, 4.0, 12.7, 150.0, 3e3, 1e5, 1e12] {
            let reach = student_reach(df, z);
            assert!(reach < last || reach.is_infinite(), "{df} {z}");
            last = reach;
        }
    }
}
