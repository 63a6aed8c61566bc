/**
 * Models in tests of JUnit. {@link io.nereid.junit.WithModel} opens models before tests and hands
 * them to their parameters, closes them, and fails the test that leaves a request or a response
 * open:
 *
 * {@snippet class="io.nereid.junit.DigitsTest" region="file"}
 *
 * <p>{@link io.nereid.junit.ReplayTest} sends a recording to models, and fails when answers differ.
 *
 * <p>{@link io.nereid.junit.FakeModel} makes a model out of a function of tensors, for code whose
 * real model is large, slow or elsewhere:
 *
 * {@snippet class="io.nereid.junit.FakeModelTest" region="fake"}
 *
 * <p>A fake is a model as any other: requests, batches, deadlines and failures are the runtime's,
 * and its native library is there. If a test cannot or should not have that library, {@code Nereid}
 * and {@code Model} are the wrong place to cut: they are final classes, so that a request costs no
 * call that the JVM cannot see through. Let the code under test depend on an interface of its own,
 * one method that says what it asks a model for, and give the test another implementation of that.
 */
package io.nereid.junit;
