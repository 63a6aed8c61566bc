package io.nereid;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/**
 * Answers requests in a form of its own, JSON for JSON, by the models of a server. A server serves
 * each one that its class path announces to {@link java.util.ServiceLoader}, from its start on. Any
 * threads call it, at the same time; it keeps nothing of a call.
 */
public interface JsonEndpoint {

  /** The path, such as {@code /v1/embeddings}; no other endpoint has the same. */
  String path();

  /** True if requests come with a body and run models; false if they ask about models. */
  boolean infers();

  /** The operation, as OpenAPI 3.1 describes it: a JSON object. */
  String description();

  /**
   * Reads a request, and writes its reply.
   *
   * @throws io.nereid.types.NereidException the request fails; the code decides the status
   */
  void answer(Call call, OutputStream reply) throws IOException;

  /**
   * Writes the reply to a request that failed, here or before it came here.
   *
   * @param status the number of the reply's status
   * @param message the reason, for people
   * @param cause what was thrown
   */
  void fail(int status, String message, Throwable cause, OutputStream reply) throws IOException;

  /** One request. Used by the thread that it was given to, until that returns. */
  interface Call {

    /** The body, as it comes. */
    InputStream body();

    /** The models that are there. */
    List<Model> models();

    /**
     * The model of that name, to be asked.
     *
     * @throws io.nereid.types.NereidException there is none, or it takes no requests
     */
    Model model(String name);

    /**
     * Takes so much of the heap that requests may hold, until the call ends; fails if it is gone.
     */
    void takeHeap(long bytes);

    /**
     * Sends requests side by side and waits for all. When one fails, or the client goes, the others
     * are cancelled.
     *
     * @return their responses, which the caller closes, as it closes the requests
     */
    List<InferResponse> infer(List<InferRequest> requests);
  }
}
