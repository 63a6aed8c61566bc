package io.nereid.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/** Runs the command line as the launcher in the tree above does, keeping what it prints. */
final class CommandLineRun {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  int run(String... args) {
    System.setProperty("nereid.home", "../..");
    return Main.run(args, new PrintWriter(out, true), new PrintWriter(err, true));
  }

  String out() {
    return out.toString();
  }

  String err() {
    return err.toString();
  }
}
