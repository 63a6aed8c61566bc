/**
 * Models in tests of JUnit. {@link io.nereid.junit.WithModel} opens models before tests and passes
 * them to their parameters, closes them, and fails the test that leaves a request or a response
 * open:
 *
 * {@snippet class="io.nereid.junit.DigitsTest" region="file"}
 *
 * <p>{@link io.nereid.junit.ReplayTest} sends a recording to models, and fails when answers differ.
 *
 * <p>{@link io.nereid.junit.FakeModel} makes a model from a function of tensors, for code whose
 * real model is large, slow or elsewhere:
 *
 * {@snippet class="io.nereid.junit.FakeModelTest" region="fake"}
 *
 * <p>A fake is a model as any other: requests, batches, deadlines and failures are the runtime's,
 * which needs its native library. If a test cannot or should not have that library, do not replace
 * {@code Nereid} and {@code Model}, which are final classes so that the JVM can inline their
 * methods. Let the code under test depend on an interface of its own, with one method for the
 * question to the model, and give the test another implementation.
 */
package io.nereid.junit;
