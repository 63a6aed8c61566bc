package io.nereid.stores;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * A page of a list of objects, in the XML of Amazon, Google or Azure.
 *
 * @param objects with their whole names
 * @param next the token of the next page; empty: there is none
 */
record ListReader(List<StoredObject> objects, String next) {

  private static final XMLInputFactory FACTORY = factory();

  private static XMLInputFactory factory() {
    XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_COALESCING, true);
    return factory;
  }

  /** Reads a page; one that is cut off or contradicts itself is no use. */
  static ListReader read(byte[] xml) throws IOException {
    List<StoredObject> objects = new ArrayList<>();
    Map<String, String> object = null;
    Map<String, String> page = new HashMap<>();
    StringBuilder text = new StringBuilder();
    try {
      XMLStreamReader reader = FACTORY.createXMLStreamReader(new ByteArrayInputStream(xml));
      while (reader.hasNext()) {
        switch (reader.next()) {
          case XMLStreamConstants.START_ELEMENT -> {
            text.setLength(0);
            if (isObject(reader.getLocalName())) {
              object = new HashMap<>();
            }
          }
          case XMLStreamConstants.CHARACTERS -> text.append(reader.getText());
          case XMLStreamConstants.END_ELEMENT -> {
            String name = reader.getLocalName();
            if (isObject(name)) {
              objects.add(object(object));
              object = null;
            } else {
              (object == null ? page : object).putIfAbsent(name, text.toString());
            }
            text.setLength(0);
          }
          default -> {}
        }
      }
    } catch (XMLStreamException | IllegalArgumentException e) {
      throw new IOException("expected a list of objects in XML: " + e.getMessage(), e);
    }
    boolean known = page.containsKey("ListBucketResult") || page.containsKey("EnumerationResults");
    String next = page.getOrDefault("NextContinuationToken", page.getOrDefault("NextMarker", ""));
    if (!known || page.getOrDefault("IsTruncated", "").equals("true") && next.isEmpty()) {
      throw new IOException("expected a list of objects, got a part of one or something else");
    }
    return new ListReader(objects, next);
  }

  private static boolean isObject(String element) {
    return element.equals("Contents") || element.equals("Blob");
  }

  private static StoredObject object(Map<String, String> fields) {
    String key = fields.getOrDefault("Key", fields.getOrDefault("Name", ""));
    String size = fields.getOrDefault("Size", fields.getOrDefault("Content-Length", ""));
    String etag = fields.getOrDefault("ETag", fields.getOrDefault("Etag", ""));
    String md5 = fields.getOrDefault("Content-MD5", "");
    if (!md5.isEmpty()) {
      md5 = Hashes.hex(Base64.getDecoder().decode(md5));
    }
    return new StoredObject(key, Long.parseLong(size), etag.replace("\"", ""), md5);
  }
}
