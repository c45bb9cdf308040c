//! The oracle and the measures at 1e3 to 1e7 scores, and lists of 25 million pairs, on one thread and on two.
//!
//! Run `cargo bench -p rocmax-benches`, or with `-- --quick` or a filter such as `-- oracle/0-0.05`.
#![allow(missing_docs, reason = "criterion makes the functions")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rocmax_benches::{Scores, sample};
use rocmax_core::curve::{self, Measure, Normalize, Scratch};
use rocmax_core::pairs::PairList;
use rocmax_core::risk::{Oracle, Tight, Workspace};
use rocmax_core::{Ctx, Labels, RateRange, Result};

const SIZES: [usize; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const RANGES: [(f64, f64); 3] = [(0.0, 1.0), (0.0, 0.05), (0.02, 0.05)];
const THREADS: [usize; 2] = [1, 2];

fn id(kind: Scores, n_threads: usize, n: usize) -> BenchmarkId {
    BenchmarkId::new(format!("{kind:?}/{n_threads} threads").to_lowercase(), n)
}

/// Runs `call` on each sample and number of threads.
fn bench<F>(c: &mut Criterion, name: &str, one_in: u64, mut call: F)
where
    F: FnMut(&Arc<rocmax_core::Problem>, &[f64], &Ctx<'_>) -> Result<f64>,
{
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for kind in [Scores::Distinct, Scores::Tied] {
        for n in SIZES {
            let (problem, scores) = sample(n, one_in, kind);
            let problem = Arc::new(problem);
            group.throughput(Throughput::Elements(n as u64));
            for n_threads in THREADS {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().ok();
                let ctx = Ctx::new(pool.as_ref().filter(|_| n_threads > 1), None);
                group.bench_function(id(kind, n_threads, n), |b| {
                    b.iter(|| call(&problem, black_box(&scores), &ctx));
                });
            }
        }
    }
    group.finish();
}

fn oracle(c: &mut Criterion) {
    for (low, high) in RANGES {
        let Ok(range) = RateRange::new(low, high) else { continue };
        let (mut ws, mut coef) = (Workspace::default(), Vec::new());
        bench(c, &format!("oracle/{low}-{high}"), 100, |problem, scores, ctx| {
            coef.resize(scores.len(), 0.0);
            Ok(Oracle::new(Arc::clone(problem), range, Tight).evaluate(scores.into(), &mut coef, &mut ws, ctx)?.value)
        });
    }
}

fn measures(c: &mut Criterion) {
    let mut scratch = Scratch::default();
    bench(c, "auc", 3, |problem, scores, ctx| curve::auc(&Labels::from(&**problem), scores.into(), &mut scratch, ctx));
    for (low, high) in RANGES {
        let Ok(range) = RateRange::new(low, high) else { continue };
        bench(c, &format!("partial auc/{low}-{high}"), 3, |problem, scores, ctx| {
            let measure = Measure::Partial(range, Normalize::Width);
            curve::measure(&Labels::from(&**problem), scores.into(), None, measure, &mut scratch, ctx)
        });
    }
}

/// 25 million pairs of 10,000 samples: all of them, as many of four times as many, and the hinge over a list.
fn pairs(c: &mut Criterion) {
    let mut group = c.benchmark_group("pairs");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements(25_000_000));
    let problem = |n: usize| rocmax_core::Problem::new((0..n).map(|i| i % 2 == 0).collect()).ok();
    let (Some(all), Some(more)) = (problem(10_000), problem(20_000)) else { return };
    let (_, scores) = sample(10_000, 2, Scores::Distinct);
    let mut coef = vec![0.0; 10_000];
    for n_threads in THREADS {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().ok();
        let ctx = Ctx::new(pool.as_ref().filter(|_| n_threads > 1), None);
        let Ok(list) = PairList::all(&all, &ctx) else { return };
        let mut bench = |name: &str, call: &mut dyn FnMut() -> Result<usize>| {
            group.bench_function(BenchmarkId::new(name, format!("{n_threads} threads")), |b| b.iter(&mut *call));
        };
        bench("enumerated", &mut || Ok(PairList::all(&all, &ctx)?.n_pairs()));
        bench("sampled", &mut || Ok(PairList::random(&more, 25_000_000, 0, &ctx)?.n_pairs()));
        bench("summed", &mut || list.hinge(black_box(&scores), &mut coef, &ctx).map(|found| found.value as usize));
    }
    group.finish();
}

criterion_group!(kernels, oracle, measures, pairs);
criterion_main!(kernels);
