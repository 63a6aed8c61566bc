package com.example.spark;

import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.JavaConverters;
import scala.reflect.ClassTag$;

/** A data set in the form in which Spark's vectorized readers produce it. */
final class ColumnarScan {

  private ColumnarScan() {}

  /**
   * The batches that a plan reads, before Spark turns them into rows. A batch is valid until the
   * next one is asked for, because the reader reuses the memory.
   *
   * @param scan a read of Parquet or ORC files, with selected columns at most
   */
  static JavaRDD<ColumnarBatch> of(Dataset<Row> scan) {
    SparkPlan plan = columnar(scan.queryExecution().executedPlan());
    if (plan == null) {
      throw new IllegalArgumentException(
          "expected a plan that reads columns, got " + scan.queryExecution().executedPlan());
    }
    return new JavaRDD<>(plan.executeColumnar(), ClassTag$.MODULE$.apply(ColumnarBatch.class));
  }

  @SuppressWarnings("deprecation") // scala.jdk.javaapi has no form for Spark's children()
  private static SparkPlan columnar(SparkPlan plan) {
    if (plan.supportsColumnar()) {
      return plan;
    }
    for (SparkPlan child : JavaConverters.seqAsJavaList(plan.children())) {
      SparkPlan found = columnar(child);
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
