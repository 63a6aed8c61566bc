package com.example.spark;

import io.nereid.Model;
import io.nereid.Nereid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.LongAccumulator;

/**
 * Images a second: in this process without Spark, and on a cluster. Arguments: the master, the
 * folder of jars, the model repository, the file of images, a folder to write to, and the number of
 * images in thousands.
 */
final class Throughput {

  private static final int ROUNDS = 5;

  private Throughput() {}

  public static void main(String[] args) throws Exception {
    String master = args[0];
    Path repository = Path.of(args[2]).toAbsolutePath();
    Path work = Files.createTempDirectory(Path.of(args[4]).toAbsolutePath(), "images");
    List<float[]> images = Images.read(Path.of(args[3]));
    int times = Integer.parseInt(args[5]) * 1000 / images.size();
    long count = (long) images.size() * times;
    System.out.printf("%,d images, %d rounds of each%n", count, ROUNDS);

    try (Nereid nereid = Nereid.open(repository)) {
      Model model = nereid.model(Digits.NAME);
      int[] digits = new int[images.size()];
      report("in process, from memory, one thread", () -> inProcess(model, images, times, digits));
    }
    List<Path> jars;
    try (Stream<Path> files = Files.list(Path.of(args[1]))) {
      jars = files.map(Path::toAbsolutePath).sorted().toList();
    }
    Path models = Cluster.archive(repository, work.resolve("models.zip"));
    try (SparkSession spark = Cluster.open(master, jars, models, work)) {
      Path plain = work.resolve("plain");
      Images.write(spark, images, times, 8, false, plain);
      LongAccumulator lent = spark.sparkContext().longAccumulator();
      LongAccumulator copied = spark.sparkContext().longAccumulator();
      JavaRDD<ColumnarBatch> batches = ColumnarScan.of(Images.load(spark, plain));
      report(
          master + ", columns read and not scored",
          () -> batches.map(ColumnarBatch::numRows).fold(0, Integer::sum));
      report(
          master + ", columns scored",
          () -> batches.mapPartitions(new ScoreColumns(lent, copied)).count());
      report(master + ", rows scored", () -> rows(Images.load(spark, plain)));
      System.out.printf("read in place: %,d, copied: %,d%n", lent.value(), copied.value());
    }
  }

  private static long rows(Dataset<Row> images) {
    return images.mapPartitions(new ScoreRows(), Encoders.row(Cluster.SCORED)).toJavaRDD().count();
  }

  /** Scores without Spark; writes the digit of each image and returns their number. */
  static long inProcess(Model model, List<float[]> images, int times, int[] digits) {
    int most = Digits.maxBatch(model);
    // Memory of an automatic arena is lent to the model, as Spark's is.
    MemorySegment all =
        Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, (long) images.size() * Digits.PIXELS);
    long rowBytes = Digits.PIXELS * Float.BYTES;
    for (int i = 0; i < images.size(); i++) {
      MemorySegment.copy(
          images.get(i), 0, all, ValueLayout.JAVA_FLOAT, i * rowBytes, Digits.PIXELS);
    }
    for (int round = 0; round < times; round++) {
      for (int first = 0; first < images.size(); first += most) {
        int some = Math.min(most, images.size() - first);
        MemorySegment pixels = all.asSlice(first * rowBytes, some * rowBytes);
        Digits.infer(model, pixels, digits, first, some);
      }
    }
    return (long) images.size() * times;
  }

  /** Prints the median of some rounds, after one to warm up. */
  private static void report(String what, LongSupplier round) {
    round.getAsLong();
    double[] rates = new double[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
      long startedNs = System.nanoTime();
      long images = round.getAsLong();
      rates[i] = images / ((System.nanoTime() - startedNs) / 1e9);
    }
    Arrays.sort(rates);
    System.out.printf(
        "%-45s %,12.0f images/s (%,.0f to %,.0f)%n",
        what, rates[ROUNDS / 2], rates[0], rates[ROUNDS - 1]);
  }
}
